"""Lists materials, creates one and reads it back, with the generated client; prints the id of the created one."""

import os
import sys

from shop_client import AuthenticatedClient
from shop_client.api.materials import create_material, get_material, list_materials
from shop_client.models import Material, MaterialPage, MaterialType, NewMaterial

client = AuthenticatedClient(
    base_url=sys.argv[1], token=os.environ["API_KEY"], prefix="", auth_header_name="X-API-Key"
)


def materials() -> list[Material]:
    page = list_materials.sync(client=client, limit=100)
    assert isinstance(page, MaterialPage), page
    return page.materials


before = materials()
new = NewMaterial(name="PETG from Python", type_=MaterialType.FILAMENT, quantity=1500.5)
created = create_material.sync(client=client, body=new)
assert isinstance(created, Material), created
read = get_material.sync(created.id, client=client)
assert isinstance(read, Material), read
assert read == created, (read, created)
assert (read.name, read.quantity) == (new.name, 1500.5), read
assert len(materials()) == len(before) + 1
print(read.id)
