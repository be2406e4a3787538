@0xe3a8c5d1907b4f26;
# What the schema of the definition says about its fields, besides their types.
#
# Rules:
#   - A default lies within its range. A test checks that.
#   - A range is checked on whatever comes from outside, file or message alike.

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("graphmill::schema");

annotation help @0xd6e92b1a68d4092d (field) :Text;
# One sentence for the user, without the full stop.

annotation unit @0xe602961d548ae841 (field) :Text;
# What a number counts, in the plural. A field counted in `bytes` may be written
# with a suffix, as in 512 MiB.

annotation range @0xa0d7209687d6ad21 (field) :Range;
# The values that are allowed, ends included; of a list, for every element.

annotation length @0xa225aa28a2e26654 (field) :Range;
# How many elements a list, or characters a text, may have.

annotation required @0xc78c507eb9cc14ce (field) :Void;
# The user must give it.

annotation perKey @0xadee0f13ef100f5a (field) :Text;
# The field may also be written as a map, whose entries go to the list field
# that is named here. Its elements are pairs (key, values), and it has no key of
# its own. If `values` is a list, the entry `default` of the map is the field
# itself. If it is a number, the map takes the place of the field.

annotation word @0xb1f7c34d92e6a805 (field) :Word;
# A word that may be written for a number; of a list, for each of its elements,
# and alone for all of them, of which there are as many then as there were.

annotation least @0x9b1f4c7d2e6a5083 (field) :Text;
# The number may also be written as a map of `min` and `max`: `max` is the field
# itself, and `min` goes to the field that is named here, which has no key of its
# own and is 0 if the number is written plainly.

annotation detail @0xc5a81e0f7b3d2946 (field) :Text;
# The word may be followed by a text that begins with `@` or `:`, which goes to
# the text field that is named here. That field has no key of its own.

struct Word {
  name @0 :Text;
  value @1 :Float64;
  # What it stands for, in the range of the field or beyond it.
}

struct Range {
  min @0 :Float64 = -inf;
  max @1 :Float64 = inf;
}
