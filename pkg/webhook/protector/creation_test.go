package protector

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ocmv1alpha1 "open-cluster-management.io/api/addon/v1alpha1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/test/fixture"
)

// reached returns a managed cluster with a status of Available.
func reached(status metav1.ConditionStatus) *clusterv1.ManagedCluster {
	cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "cluster1"}}
	cluster.Status.Conditions = []metav1.Condition{{Type: clusterv1.ManagedClusterConditionAvailable, Status: status}}
	return cluster
}

func TestCreated(t *testing.T) {
	const onBase = "{ordering: Install, dependencies: [{name: base}]}"
	templated := fixture.Deployed(fixture.Specified(t, "leaf", onBase))
	//nolint:staticcheck // v1alpha1 has no other field for it
	templated.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: "v2"}
	v2 := fixture.Template("leaf", "v2", "[{name: other}]")
	onlyOrdered := fixture.Deployed(fixture.Specified(t, "leaf", "{ordering: Install}"))
	onlyOrdered.Spec.SupportedConfigs = templated.Spec.SupportedConfigs //nolint:staticcheck // v1alpha1 has no other field for it
	const (
		onTunnel  = "{ordering: Install, dependencies: [{name: x, api: {kind: Tunnel}}]}"
		onVersion = `{ordering: Install, dependencies: [{name: base, version: ">= 2.0"}]}`
	)
	stopped := addOn("interlock-agent")
	stopped.Status.Conditions = []metav1.Condition{*fixture.Available(metav1.ConditionFalse, "Stopped")}
	waiver := fixture.Policy(t, "waiver", "overrides: [{addOn: leaf, dependency: base, waive: {reason: r, until: 2026-12-01T00:00:00Z}}]")
	for name, test := range map[string]struct {
		declares string
		objects  []client.Object
		fails    failing
		want     string // verdicts by dependency, or empty if no verdict is known
		err      string
	}{
		"Missing":                       {onBase, []client.Object{reached("True")}, failing{}, "base NotInstalled", ""},
		"NotAvailable":                  {onBase, []client.Object{reached("True"), addOn("base")}, failing{}, "base NotAvailable", ""},
		"Satisfied":                     {onBase, []client.Object{reached("True"), available(addOn("base"))}, failing{}, "base Satisfied", ""},
		"Lost":                          {onBase, []client.Object{reached("Unknown")}, failing{}, "base Held", ""},
		"NoCluster":                     {onBase, nil, failing{}, "", ""},
		"Detaching":                     {onBase, []client.Object{deleting(reached("True"))}, failing{}, "", ""},
		"ThereAlready":                  {onBase, []client.Object{reached("True"), addOn("leaf")}, failing{}, "", ""},
		"NotDeclared":                   {"{}", []client.Object{reached("True")}, failing{}, "", ""},
		"Waived":                        {onBase, []client.Object{reached("True"), &waiver}, failing{}, "base Waived", ""},
		"ByItsTemplate":                 {"", []client.Object{reached("True"), &templated, &v2}, failing{}, "other NotInstalled", ""},
		"OnlyOrderedWithoutItsTemplate": {"", []client.Object{reached("True"), &onlyOrdered}, failing{}, "", ""},
		"NoSuchTemplate":                {"", []client.Object{reached("True"), &templated}, failing{}, "base NotInstalled", ""},
		"OnTheHub": {
			"{ordering: Install, dependencies: [{name: x, api: {kind: Tunnel, servedBy: Hub}}, {name: z, api: {kind: Absent, servedBy: Hub}}]}",
			[]client.Object{reached("True")},
			failing{},
			"x Satisfied, z APINotServed", "",
		},
		"OfAnAgent":              {onTunnel, []client.Object{reached("True"), available(addOn("interlock-agent"))}, failing{}, "x due", ""},
		"OfAnAgentThatIsStopped": {onTunnel, []client.Object{reached("True"), stopped, serves("interlock-agent")}, failing{}, "x due", ""},
		"OfAnAgentOnALostCluster": {
			onTunnel, []client.Object{reached("Unknown"), available(addOn("interlock-agent"))}, failing{}, "x Held", "",
		},
		"Reported":               {onTunnel, []client.Object{reached("True"), serves("")}, failing{}, "x Satisfied", ""},
		"RequestedOfNoAgent":     {onTunnel, []client.Object{reached("True"), requestedAt(now.Add(-time.Second))}, failing{}, "x due", ""},
		"NoAgentReports":         {onTunnel, []client.Object{reached("True"), requestedAt(now.Add(-time.Hour))}, failing{}, "x APINotServed", ""},
		"NothingRequestedOfNone": {onTunnel, []client.Object{reached("True")}, failing{}, "x APINotServed", ""},
		"OldVersionOfATemplate": {onVersion, []client.Object{
			reached("True"), versioned(available(addOn("base")), "1.0"),
			available(addOn("interlock-agent")),
		}, failing{}, "base due", ""},
		"ClusterFails": {onBase, []client.Object{reached("True")}, failing{get: "cluster"}, "", "the hub is busy"},
		"AddOnsFail": {
			onBase,
			[]client.Object{reached("True")},
			failing{list: "add-ons"},
			"",
			"list the add-ons of cluster1: the hub is busy",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.declares != "" {
				registered := fixture.Specified(t, "leaf", test.declares)
				test.objects = append(test.objects, &registered)
			}
			v := creationsOn(t, test.fails, test.objects...)
			created, err := v.Created(t.Context(), addOn("leaf"))
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("error %v", err)
			}
			var got []string
			for _, finding := range created.Findings {
				verdict := string(finding.Verdict)
				if finding.Due {
					verdict = "due"
				}
				got = append(got, finding.Name()+" "+verdict)
			}
			if strings.Join(got, ", ") != test.want || created.Evaluated != (test.want != "" || name == "OnlyOrderedWithoutItsTemplate") ||
				(created.Missing == "v2") != (name == "NoSuchTemplate" || name == "OnlyOrderedWithoutItsTemplate") {
				t.Errorf("%q, known: %t, missing: %q", got, created.Evaluated, created.Missing)
			}
		})
	}
}

// serves returns facts with the API Tunnel. The agent is empty if it is not installed as an add-on.
func serves(agent string) *dependencyv1alpha1.ManagedClusterFacts {
	facts := requestedAt(now.Add(-time.Hour))
	facts.Status.AgentAddOn = agent
	facts.Status.APIs = []dependencyv1alpha1.APIFact{{API: dependencyv1alpha1.API{Kind: "Tunnel"}, Served: metav1.ConditionTrue}}
	return facts
}

// TestTemplateThatTheCacheDoesNotHave names an AddOnTemplate that is created at the same time: GitOps applies both in one commit, and
// OCM begins to roll the template out before the cache has it.
func TestTemplateThatTheCacheDoesNotHave(t *testing.T) {
	registered := fixture.Deployed(fixture.Specified(t, "leaf", "{ordering: InstallAndUpgrade}"))
	//nolint:staticcheck // v1alpha1 has no other field for it
	registered.Spec.SupportedConfigs[0].DefaultConfig = &ocmv1alpha1.ConfigReferent{Name: "v1"}
	changed := *registered.DeepCopy()
	//nolint:staticcheck // v1alpha1 has no other field for it
	changed.Spec.SupportedConfigs[0].DefaultConfig.Name = "v2"
	runs := fromTemplate(addOn("leaf"), "v1")
	runs.Spec.Configs = nil // it is the default
	objects := []client.Object{
		&registered, reached("True"), runs, versioned(available(addOn("base")), "1.0"), template("leaf", "v1", "1.0", "[]"),
	}
	v := creationsOn(t, failing{}, append(objects, template("leaf", "v2", "2.0", `[{name: base, version: ">= 2.0"}]`))...)
	v.cache = creationsOn(t, failing{}, objects...).cache
	v.declarations.cache = v.cache

	findings, upgrade, err := v.Upgraded(t.Context(), client.ObjectKey{Namespace: "cluster1", Name: "leaf"}, "v2")
	if err != nil || upgrade == nil || upgrade.Version != "2.0" || len(findings) != 1 || findings[0].Verdict != evaluation.VersionMismatch {
		t.Errorf("findings %+v of %+v, %v", findings, upgrade, err)
	}

	v.mode = dependencyv1alpha1.ProtectionEnforce
	review, err := (&RegistrationValidator{&fleetReviewer{v.responder, v.reviewer}}).reviewChange(t.Context(), &registered, &changed)
	const want = "would break 1 add-on on 1 cluster: leaf requires base in version '>= 2.0' (cluster1)"
	if err != nil || review.message != want {
		t.Errorf("%q, %v", review.message, err)
	}
}

func TestRegistered(t *testing.T) {
	registered := fixture.Specified(t, "leaf", "{ordering: Install}")
	v := creationsOn(t, failing{}, &registered)
	for name, want := range map[string]addonv1alpha1.Ordering{"leaf": addonv1alpha1.OrderingInstall, "absent": ""} {
		if got, err := v.Registered(t.Context(), name); err != nil || got.Ordering != want {
			t.Errorf("%s: %q, %v", name, got.Ordering, err)
		}
	}
	broken := creationsOn(t, failing{list: "registrations"}, &registered)
	if got, err := broken.Registered(t.Context(), "leaf"); err == nil || len(got.Edges) > 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// creationsOn returns a validator on a hub where protection is off.
func creationsOn(t *testing.T, fails failing, objects ...client.Object) *Validator {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := fleet.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	busy := errors.New("the hub is busy")
	indexed := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).
		WithIndex(&addonv1alpha1.ManagedClusterAddOn{}, "metadata.name", byName).Build()
	hub := interceptor.NewClient(indexed, interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if fails.list != "" && kindOf(list) == fails.list {
				return busy
			}
			return inner.List(ctx, list, options...)
		},
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
			if fails.get != "" && kindOf(object) == fails.get {
				return busy
			}
			return inner.Get(ctx, key, object, options...)
		},
	})
	return New(Options{
		Live: hub, Cache: hub, Discovery: hubOf("Tunnel"), Clock: clocktesting.NewFakePassiveClock(now), Recorder: events.NewFakeRecorder(1),
		Mode: dependencyv1alpha1.ProtectionOff,
	}).AddOns
}
