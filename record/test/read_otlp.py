"""Print what functions allocate in an OpenTelemetry profile, as
sampled_program does: NAME allocated_objects allocated_bytes inuse_objects
inuse_bytes. Reads what `protoc --decode=ProfilesData` prints (fixtures/otlp);
a field that the schema does not know, an index that leads nowhere, or a table
without its zero entry ends it. usage: read_otlp.py <DECODED
"""
import collections
import sys

TABLES = ("mapping", "location", "function", "link", "attribute", "stack")
VALUES = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")


def read(lines):
    """A message: its fields by name, each a list of texts and messages."""
    found = collections.defaultdict(list)
    for line in lines:
        line = line.strip()
        if line == "}":
            break
        if line.endswith("{"):
            name, value = line[:-2], read(lines)
        else:
            name, value = line.split(": ", 1)
        if name.isdigit():
            raise ValueError("field %s is not in the schema" % name)
        found[name].append(value)
    return found


def number(message, name):
    return int(message[name][0]) if message[name] else 0


def main():
    data = read(iter(sys.stdin))
    words = data["dictionary"][0]
    strings = [text[1:-1] for text in words["string_table"]]
    if strings[0] != "":
        raise ValueError("the first text is not empty")
    for table in TABLES:
        if any(words[table + "_table"][0].values()):
            raise ValueError("the first entry of %s is not zero" % table)
    for mapping in words["mapping_table"]:
        strings[number(mapping, "filename_strindex")]
    sums = collections.defaultdict(lambda: dict.fromkeys(VALUES, 0))
    profiles = data["resource_profiles"][0]["scope_profiles"][0]["profiles"]
    types = []
    for profile in profiles:
        kind = profile["sample_type"][0]
        types.append(strings[number(kind, "type_strindex")])
        seen = set()
        for sample in profile["samples"]:
            index = number(sample, "stack_index")
            if index in seen or index == 0 or len(sample["values"]) != 1:
                raise ValueError("a stack has more than one sample")
            seen.add(index)
            stack = words["stack_table"][index]
            locations = [words["location_table"][int(i)]
                         for i in stack["location_indices"]]
            for location in locations:
                words["mapping_table"][number(location, "mapping_index")]
            leaf = locations[0]["lines"][0]
            function = words["function_table"][number(leaf, "function_index")]
            name = strings[number(function, "name_strindex")]
            sums[name][types[-1]] += int(sample["values"][0])
        if number(profile, "period") != 1 or not profile["time_unix_nano"]:
            raise ValueError("a profile without period or time")
    if tuple(types) != VALUES:
        raise ValueError("values are %s" % types)
    for name in sorted(sums):
        if name.startswith("site_"):
            print(name, *sums[name].values())


main()
