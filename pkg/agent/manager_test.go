package agent

import (
	"slices"
	"testing"

	"open-cluster-management.io/interlock/pkg/kube/trigger"
	"open-cluster-management.io/interlock/test/triggertest"
)

func TestTriggersEnqueueControllerKeys(t *testing.T) {
	clusterTriggers := triggers{cluster: "cluster1", available: trigger.New(), facts: trigger.New()}
	available, facts := triggertest.NewQueue(t), triggertest.NewQueue(t)
	if err := clusterTriggers.available.Source().Start(t.Context(), available); err != nil {
		t.Fatal(err)
	}
	if err := clusterTriggers.facts.Source().Start(t.Context(), facts); err != nil {
		t.Fatal(err)
	}
	clusterTriggers.enqueueAddOn("proxy")
	clusterTriggers.enqueueFacts()
	if got := triggertest.Drain(available); !slices.Equal(got, []string{"cluster1/proxy"}) {
		t.Errorf("available: %q", got)
	}
	if got := triggertest.Drain(facts); !slices.Equal(got, []string{"cluster1/cluster1"}) {
		t.Errorf("facts: %q", got)
	}
}
