// Command hooks prints what Helm runs before it deletes a release of the chart
// with the values, as YAML, of its argument: for a cluster without Helm.
//
//	go run -C hack/deployment ./hooks 'images: {prefix: registry.example.com/interlock-}'
package main

import (
	"fmt"
	"os"
	"strings"

	"open-cluster-management.io/interlock/hack/deployment"
)

func main() {
	_, hooks, err := deployment.Render(strings.Join(os.Args[1:], "\n"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "hooks:", err)
		os.Exit(1)
	}
	fmt.Println(strings.Join(hooks, "\n---"))
}
