package doctor

import (
	"context"
	"fmt"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
)

// The versions of Open Cluster Management that Interlock is known to work with.
const (
	// oldestOCM is the first that deploys addon-agent.
	oldestOCM = "1.2.0"
	// testedOCM is the one that the tests run on. Later ones of the same minor version count
	// as known too.
	testedOCM = "1.2.1"
)

func openClusterManagement(ctx context.Context, h *hub) []result {
	const page = "docs/coexistence.md"
	found, _, err := fleet.Objects{Reader: h}.OCMVersion(ctx)
	if err != nil {
		return unread("The version of Open Cluster Management", err)
	}
	if found == "" {
		return []result{{
			note, "Open Cluster Management does not report its version: its CRDs were applied by hand",
			"kubectl get crd " + fleet.OCMVersionCRD,
		}}
	}
	what := fmt.Sprintf("Open Cluster Management %s, managed clusters: %d", found, len(h.fleet.Names()))
	is, err := semver.NewVersion(found)
	oldest, tested := semver.MustParse(oldestOCM), semver.MustParse(testedOCM)
	switch {
	case err != nil:
		return []result{{note, what + ": this is no version that can be compared", page}}
	case is.LessThan(oldest):
		return []result{h.olderOCM(what)}
	case is.Major() == tested.Major() && is.Minor() == tested.Minor():
		return []result{{well, what, ""}}
	default:
		return []result{{note, what + ". Interlock is tested with " + testedOCM + ": look for a release of Interlock that is tested with yours", page}}
	}
}

// olderOCM is for a version that cannot deploy addon-agent.
func (h *hub) olderOCM(what string) result {
	old := result{note, what + ". It is older than " + oldestOCM + ", so it cannot deploy addon-agent", "clusteradm upgrade clustermanager"}
	if h.fleet.Declared.Registered(agentAddOn) || h.fleet.IsInstalled(agentAddOn, "") {
		old.status = unwell
	}
	return old
}

// crd reads a CRD.
func (h *hub) crd(ctx context.Context, name string) (map[string]any, error) {
	object, err := h.get(ctx, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", client.ObjectKey{Name: name})
	if err != nil || object == nil {
		return nil, err
	}
	return object.Object, nil
}
