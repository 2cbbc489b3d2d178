module profsim/go_thresholds

go 1.19
