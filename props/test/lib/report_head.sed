# The part of a failure's report that a hand can write down: what broke, the
# diagram, where each thread is, which choices matter. Not how likely it is, nor
# how many runs it took to shrink.
#
# usage: sed -n -f report_head.sed REPORT
/^  How likely/q
s/ in [0-9]* runs//
/^  broken:/,$p
