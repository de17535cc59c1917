module open-cluster-management.io/interlock/hack/tools/esbuild

go 1.25.0

tool github.com/evanw/esbuild/cmd/esbuild

require (
	github.com/evanw/esbuild v0.28.2 // indirect
	golang.org/x/sys v0.47.0 // indirect
)
