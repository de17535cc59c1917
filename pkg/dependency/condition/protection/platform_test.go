package protection

import (
	"testing"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/declaration"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestBlockersOf(t *testing.T) {
	cluster := evaluation.Cluster{
		Name: "c1", KubernetesVersion: "v1.34.2-gke.100", OCMVersion: "1.3.1", Now: fixture.Now.Time,
		Claims: map[string]string{declaration.KubernetesClaim: "v1.34.2", "region": "eu"},
	}
	unknown := evaluation.Cluster{Name: "c1", OCMUnread: true, Now: fixture.Now.Time}
	for name, test := range map[string]struct {
		declares string
		cluster  evaluation.Cluster
		want     Blockers
	}{
		"nothing":                     {"dependencies: [{name: base}]", cluster, Blockers{}},
		"accepted":                    {`requirements: {kubernetes: ">= 1.28", ocm: "1.x"}`, cluster, Blockers{}},
		"Kubernetes":                  {`requirements: {kubernetes: ">= 1.28 < 1.35"}`, cluster, Blockers{Kubernetes: true}},
		"a patch of the next minor":   {`requirements: {kubernetes: "< 1.35.2"}`, cluster, Blockers{}},
		"OCM":                         {`requirements: {ocm: "~1.3"}`, cluster, Blockers{OCM: true}},
		"both":                        {`requirements: {kubernetes: "1.34.x", ocm: "< 1.4"}`, cluster, Blockers{Kubernetes: true, OCM: true}},
		"not met now":                 {`requirements: {kubernetes: "< 1.30", ocm: "> 1.9"}`, cluster, Blockers{}},
		"every version":               {`requirements: {kubernetes: "*"}`, cluster, Blockers{}},
		"a version that is not known": {`requirements: {kubernetes: "< 1.35", ocm: "< 1.4"}`, unknown, Blockers{}},
		"the claim of Kubernetes": {
			`requirements: {claims: {kubeversion.open-cluster-management.io: "< 1.35"}}`, cluster, Blockers{Kubernetes: true},
		},
		"the claim, literally": {
			`requirements: {claims: {kubeversion.open-cluster-management.io: v1.34.2}}`, cluster, Blockers{Kubernetes: true},
		},
		"the claim, in a range": {`requirements: {claims: {kubeversion.open-cluster-management.io: "< 1.36"}}`, cluster, Blockers{}},
		"another claim":         {`requirements: {claims: {region: eu}}`, cluster, Blockers{}},
		"one of two does not accept it": {
			`requirements: {kubernetes: "< 2", claims: {kubeversion.open-cluster-management.io: "< 1.35"}}`, cluster, Blockers{Kubernetes: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			declared := evaluation.New(catalog.New([]addonv1alpha1.ClusterManagementAddOn{fixture.Specified(t, "leaf", test.declares)}))
			findings := declared.Evaluate("leaf", evaluation.State{Cluster: test.cluster})
			if got := BlockersOf(findings, test.cluster); got != test.want {
				t.Errorf("%+v, want %+v", got, test.want)
			}
		})
	}
}
