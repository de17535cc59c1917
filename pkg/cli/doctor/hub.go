package doctor

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/components"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
)

// result is a result of a check.
type result struct {
	status  report.CheckStatus
	message string
	// repair is a command, or a page of the documentation. It is empty if there is nothing to repair.
	repair string
}

// rightsPage is the repair if an object cannot be read.
const rightsPage = "docs/kubectl-addon.md#rights, or deploy/plugin-reader"

const (
	passed  = report.CheckPassed
	failed  = report.CheckFailed
	unknown = report.CheckUnknown
	note    = report.CheckNote
)

// Groups of API servers.
const (
	admission = "admissionregistration.k8s.io"
	rbac      = "rbac.authorization.k8s.io"
)

const (
	webhookName  = components.Webhook
	agentAddOn   = names.AgentAddOn
	registration = "clustermanagementaddons.addon.open-cluster-management.io"
)

// hub is the input of the checks.
type hub struct {
	components.Hub
	fleet *snapshot.Snapshot
	now   time.Time
	// plugin is the version of this program. It is empty in a build without a version.
	plugin string
	// facts has the ManagedClusterFacts by managed cluster.
	facts map[string]*dependencyv1alpha1.ManagedClusterFacts
}

func newHub(reader client.Reader, fleet *snapshot.Snapshot, namespace string, now time.Time, plugin string) *hub {
	byCluster := map[string]*dependencyv1alpha1.ManagedClusterFacts{}
	for i := range fleet.Content.Facts {
		if facts := &fleet.Content.Facts[i]; facts.Name == facts.Namespace {
			byCluster[facts.Namespace] = facts
		}
	}
	return &hub{
		Hub: components.Hub{Reader: reader, Namespace: namespace}, fleet: fleet, now: now, plugin: plugin, facts: byCluster,
	}
}

// logs returns the command that shows the logs of addon-manager.
func (h *hub) logs() string {
	return fmt.Sprintf("kubectl -n %s logs deployment/%s", h.Namespace, names.AddonManager)
}

// unreadable returns the result of a check that could not read an object.
func unreadable(object string, err error) []result {
	return []result{{unknown, fmt.Sprintf("%s cannot be read: %v", object, err), rightsPage}}
}

// tally counts names, and keeps the first name as an example.
type tally struct {
	count int
	first string
}

func (t *tally) add(name string) {
	if t.count++; t.count == 1 {
		t.first = name
	}
}

func (t tally) String() string { return fmt.Sprintf("%d, such as %s", t.count, t.first) }

// tallyAddOns counts the ManagedClusterAddOns that match.
func (h *hub) tallyAddOns(matches func(*addonv1alpha1.ManagedClusterAddOn) bool) tally {
	var matching tally
	for _, addOn := range h.fleet.AddOns {
		if matches(addOn) {
			matching.add(addOn.Name + " on " + addOn.Namespace)
		}
	}
	return matching
}
