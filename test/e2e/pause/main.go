// Command pause holds a pod's namespaces: it does nothing until it is told to
// stop. It stands in for registry.k8s.io/pause where nothing can be pulled.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
}
