package main
import (
 _ "helm.sh/helm/v4/pkg/chart/v2/loader"
 _ "helm.sh/helm/v4/pkg/chart/v2/lint"
 _ "helm.sh/helm/v4/pkg/engine"
 _ "sigs.k8s.io/kustomize/api/krusty"
)
func main(){}
