package doctor

import (
	"context"
	"fmt"

	"github.com/Masterminds/semver/v3"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/pkg/fleet"
)

// The versions of Open Cluster Management that Interlock supports.
const (
	// OldestOCM is the first version that deploys addon-agent.
	OldestOCM = "1.2.0"
	// testedOCM is the version that the tests run on. Later patch versions count as tested too.
	testedOCM = "1.2.1"
)

func checkOCM(ctx context.Context, h *hub) []result {
	const page = "docs/coexistence.md"
	installed, _, err := fleet.Objects{Reader: h}.OCMVersion(ctx)
	if err != nil {
		return unreadable("The version of Open Cluster Management", err)
	}
	if installed == "" {
		return []result{{
			note, "Open Cluster Management does not report its version: its CRDs were applied by hand",
			"kubectl get crd " + fleet.OCMVersionCRD,
		}}
	}
	message := fmt.Sprintf("Open Cluster Management %s, managed clusters: %d", installed, len(h.fleet.Names()))
	version, err := semver.NewVersion(installed)
	oldest, tested := semver.MustParse(OldestOCM), semver.MustParse(testedOCM)
	switch {
	case err != nil:
		return []result{{note, message + ": this is no version that can be compared", page}}
	case version.LessThan(oldest):
		return []result{h.olderOCM(message)}
	case version.Major() == tested.Major() && version.Minor() == tested.Minor():
		return []result{{passed, message, ""}}
	default:
		message += ". Interlock is tested with " + testedOCM + ": look for a release of Interlock that is tested with yours"
		return []result{{note, message, page}}
	}
}

// olderOCM returns the result for a version that cannot deploy addon-agent.
func (h *hub) olderOCM(message string) result {
	old := result{note, message + ". It is older than " + OldestOCM + ", so it cannot deploy addon-agent", "clusteradm upgrade clustermanager"}
	if h.fleet.Declared.Registered(agentAddOn) || h.fleet.IsInstalled(agentAddOn, "") {
		old.status = failed
	}
	return old
}

// crd reads a CRD.
func (h *hub) crd(ctx context.Context, name string) (map[string]any, error) {
	object, err := h.Object(ctx, "apiextensions.k8s.io", "v1", "CustomResourceDefinition", client.ObjectKey{Name: name})
	if err != nil || object == nil {
		return nil, err
	}
	return object.Object, nil
}
