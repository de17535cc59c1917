//go:build linux

package main

import (
	"fmt"
	"strings"
)

// uplinkTraffic is all of it: of the node itself and, forwarded, of its pods,
// in both directions.
var uplinkTraffic = []string{"INPUT -i", "OUTPUT -o", "FORWARD -i", "FORWARD -o"}

// cutCommand is a line for a shell that cuts the node off from the other one, as
// a broken cable would: packets are lost, and no connection hears that it ended.
func (n *node) cutCommand() string { return n.filter("-I") }

// restoreCommand is a line for a shell that undoes cutCommand.
func (n *node) restoreCommand() string { return n.filter("-D") }

// filter enters the mounts too: there is the lock that the node's kube-proxy
// takes before it touches the rules.
func (n *node) filter(action string) string {
	var commands []string
	for _, traffic := range uplinkTraffic {
		commands = append(commands, fmt.Sprintf("nsenter --target %d --net --mount -- iptables -w %s %s %s -j DROP", n.pid(), action, traffic, uplink))
	}
	return strings.Join(commands, " && ")
}
