### Parts that pages of all areas share.

total = { $count } total
newer = Newer
older = Older
