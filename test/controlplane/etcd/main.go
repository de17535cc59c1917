// Command etcd is the upstream etcd server, built from its Go module so that
// tests and the demo need no container engine.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
