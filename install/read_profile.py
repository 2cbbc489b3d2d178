"""Print a profile.proto file, gzipped or not, one sample per line: its values, and the
names of its functions, leaf first. The first line names the values.

Written from the description of the format alone, whatever wrote the file; other scripts
import it. usage: read_profile.py FILE.pb[.gz]
"""
import gzip
import sys


def number(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Each field of a message: its number, and a number or bytes."""
    at = 0
    while at < len(data):
        key, at = number(data, at)
        if key & 7 == 0:
            value, at = number(data, at)
        elif key & 7 == 2:
            length, at = number(data, at)
            value, at = data[at:at + length], at + length
            if len(value) != length:
                raise ValueError("a field is cut off")
        else:
            raise ValueError("wire type %d" % (key & 7))
        yield key >> 3, value


def numbers(value):
    """A repeated number, packed or not."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        one, at = number(value, at)
        found.append(one)
    return found


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def read(path):
    """A profile's value types, (name, unit) each, and its samples: a list of
    values and a list of names each."""
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    strings, types, samples, functions, locations = [], [], [], {}, {}
    for field, value in fields(data):
        if field == 1:
            types.append(dict(fields(value)))
        elif field == 2:
            samples.append(value)
        elif field == 4:
            known = list(fields(value))
            lines = [dict(fields(v)) for f, v in known if f == 4]
            locations[dict(known)[1]] = [line[1] for line in lines]
        elif field == 5:
            known = dict(fields(value))
            functions[known[1]] = known.get(2, 0)
        elif field == 6:
            strings.append(value.decode())
    found = []
    for sample in samples:
        values, names = [], []
        for field, value in fields(sample):
            if field == 1:
                for location in numbers(value):
                    names += [strings[functions[f]]
                              for f in locations[location]]
            elif field == 2:
                values += [signed(v) for v in numbers(value)]
        found.append((values, names))
    return [(strings[t[1]], strings[t[2]]) for t in types], found


def main(path):
    types, samples = read(path)
    print("types", *["/".join(each) for each in types])
    for values, names in samples:
        print(*values, *names)


if __name__ == "__main__":
    main(sys.argv[1])
