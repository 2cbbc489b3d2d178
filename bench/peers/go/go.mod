module bench/peer

go 1.19
