// Command pause holds a pod's namespaces: it waits for a signal to stop. It stands in for registry.k8s.io/pause where
// nothing can be pulled.
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
