# For hands that type make: everything is in build.ninja.
# Each target first installs what the build needs and is missing (.ci/deps).
.PHONY: all run check clean
all: ; @.ci/deps build && ninja
run check: ; @.ci/deps build test && ninja -k 0 $@
clean: ; rm -rf out
