module open-cluster-management.io/interlock/hack/tools/logcheck

go 1.25.0

tool sigs.k8s.io/logtools/logcheck

require (
	golang.org/x/exp v0.0.0-20240506185415-9bf2ced13842 // indirect
	golang.org/x/mod v0.36.0 // indirect
	golang.org/x/sync v0.20.0 // indirect
	golang.org/x/tools v0.45.0 // indirect
	sigs.k8s.io/logtools v0.10.1 // indirect
)
