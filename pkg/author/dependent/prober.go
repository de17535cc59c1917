package dependent

import (
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"open-cluster-management.io/addon-framework/pkg/agent"
	"open-cluster-management.io/addon-framework/pkg/utils"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	"open-cluster-management.io/interlock/pkg/availability"
	"open-cluster-management.io/interlock/pkg/text"
)

// probe returns a prober that respects dependencies. It returns inner if addon-framework does not write Available, as for add-ons
// with a lease. For all Deployments and DaemonSets, addon-framework chooses the fields to probe and takes no health check. A prober
// of everything that the work contains replaces these. A prober of works without fields takes the work's own condition as the
// add-on's health.
func probe(inner *agent.HealthProber) *agent.HealthProber {
	if inner == nil {
		return nil
	}
	var prober agent.WorkHealthProber
	switch inner.Type {
	case agent.HealthProberTypeWork:
		if inner.WorkProber != nil {
			prober = *inner.WorkProber
		}
	case agent.HealthProberTypeDeploymentAvailability:
		prober = *utils.NewAllDeploymentsProber().WorkProber
	case agent.HealthProberTypeWorkloadAvailability:
		prober = *utils.NewAllDeploymentsProber().WorkProber
		daemonSets := utils.WellKnowManifestConfig(appsv1.GroupName, "daemonsets", "*", "*")
		prober.ProbeFields = append(prober.ProbeFields, agent.ProbeField{
			ResourceIdentifier: daemonSets.ResourceIdentifier, ProbeRules: daemonSets.FeedbackRules,
		})
	default:
		return inner
	}
	prober.HealthChecker = check(prober.HealthChecker)
	return &agent.HealthProber{Type: agent.HealthProberTypeWork, WorkProber: &prober}
}

// check fails while a Required dependency fails, and otherwise calls the add-on's own
// check.
func check(own agent.AddonHealthCheckerFunc) agent.AddonHealthCheckerFunc {
	return func(results []agent.FieldResult, cluster *clusterv1.ManagedCluster, installed *addonv1beta1.ManagedClusterAddOn) error {
		if degraded := meta.FindStatusCondition(installed.Status.Conditions, addonv1beta1.ManagedClusterAddOnConditionDegraded); availability.RequiredFails(degraded) {
			return errors.New(degraded.Reason + ": " + text.CutBytes(text.OneLine(degraded.Message), maxMessage))
		}
		if own == nil {
			return nil
		}
		return own(results, cluster, installed)
	}
}

// maxMessage is how long, in bytes, the message of Degraded may be within the message of Available: addon-framework adds to it, and
// 32,768 is the limit of both.
const maxMessage = 30000
