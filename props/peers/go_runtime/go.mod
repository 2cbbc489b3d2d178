module profsim/go_runtime

go 1.19
