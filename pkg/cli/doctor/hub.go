package doctor

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

// result is what a check found.
type result struct {
	status report.CheckStatus
	found  string
	repair string // what to do; empty where nothing is to be done
}

// rightsPage is the repair where something cannot be read.
const rightsPage = "docs/kubectl-addon.md#rights, or deploy/plugin-reader"

const (
	well    = report.CheckPassed
	unwell  = report.CheckFailed
	unknown = report.CheckUnknown
	note    = report.CheckNote
)

// Groups of API servers.
const (
	admission = "admissionregistration.k8s.io"
	rbac      = "rbac.authorization.k8s.io"
)

const (
	webhookName  = "interlock-webhook"
	agentAddOn   = names.AgentAddOn
	registration = "clustermanagementaddons.addon.open-cluster-management.io"
)

// hub is what the checks read.
type hub struct {
	client.Reader
	fleet     *snapshot.Snapshot
	namespace string // of Interlock
	now       time.Time
	// plugin is the version of this program; empty where it is not known.
	plugin string
	// facts are what is requested of managed clusters and reported by them, by cluster.
	facts map[string]*dependencyv1alpha1.ManagedClusterFacts
}

// on is a hub to be checked.
func on(reader client.Reader, fleet *snapshot.Snapshot, namespace string, now time.Time, plugin string) *hub {
	facts := map[string]*dependencyv1alpha1.ManagedClusterFacts{}
	for i := range fleet.Content.Facts {
		if one := &fleet.Content.Facts[i]; one.Name == one.Namespace {
			facts[one.Namespace] = one
		}
	}
	return &hub{reader, fleet, namespace, now, plugin, facts}
}

// get reads an object; nil where there is none, or no such kind.
func (h *hub) get(ctx context.Context, group, version, kind string, key client.ObjectKey) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: version, Kind: kind})
	err := h.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil //nolint:nilnil // no error: there is none
	case err != nil:
		return nil, err
	}
	return object, nil
}

// logs is the command that shows what addon-manager reports.
func (h *hub) logs() string {
	return fmt.Sprintf("kubectl -n %s logs deployment/%s", h.namespace, names.AddonManager)
}

// unread is the result of a check that could not read what it needs.
func unread(what string, err error) []result {
	return []result{{unknown, fmt.Sprintf("%s cannot be read: %v", what, err), rightsPage}}
}

func sliceOf(object map[string]any, fields ...string) (items []map[string]any) {
	all, _, _ := unstructured.NestedSlice(object, fields...)
	for _, one := range all {
		if item, ok := one.(map[string]any); ok {
			items = append(items, item)
		}
	}
	return items
}

// such names the first of some things, and how many there are.
type such struct {
	count int
	first string
}

func (s *such) add(name string) {
	if s.count++; s.count == 1 {
		s.first = name
	}
}

func (s such) String() string { return fmt.Sprintf("%d, such as %s", s.count, s.first) }

// addOns are those on managed clusters that are meant.
func (h *hub) addOns(meant func(*addonv1alpha1.ManagedClusterAddOn) bool) (found such) {
	for i := range h.fleet.AddOns {
		if addOn := &h.fleet.AddOns[i]; meant(addOn) {
			found.add(addOn.Name + " on " + addOn.Namespace)
		}
	}
	return found
}
