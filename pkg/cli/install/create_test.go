package install

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/output"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/dependency/condition/whatif"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// layers are a stack of three add-ons on two managed clusters; a Placement installs the middle one.
func layers() *steps.Plan {
	clusters := []string{"c1", "c2"}
	return &steps.Plan{Layers: []steps.Layer{
		{{AddOn: "base", Clusters: clusters, Because: []string{"mid"}}},
		{{AddOn: "mid", Clusters: clusters, ByOCM: true}},
		{{AddOn: "leaf", Clusters: clusters}},
	}}
}

// hub is a hub whose creations fail as the function says.
func hub(t *testing.T, fails func(object client.Object) error, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if review, asked := object.(*authorizationv1.SelfSubjectAccessReview); asked {
				about := review.Spec.ResourceAttributes
				review.Status.Allowed = !errors.Is(fails(installing(about.Namespace, about.Name)), errNoRight)
				return nil
			}
			if err := fails(object); err != nil {
				return err
			}
			return hub.Create(ctx, object, options...)
		},
	}).Build()
}

func installing(cluster, name string) client.Object {
	return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster, Name: name}}
}

func created(t *testing.T, hubClient client.Client) (keys []string) {
	t.Helper()
	var addOns addonv1alpha1.ManagedClusterAddOnList
	if err := hubClient.List(t.Context(), &addOns); err != nil {
		t.Fatal(err)
	}
	for _, addOn := range addOns.Items {
		keys = append(keys, addOn.Namespace+"/"+addOn.Name+" "+addOn.Labels[addonv1alpha1.InstalledByLabel])
	}
	return slices.Sorted(slices.Values(keys))
}

var (
	resource   = addonv1alpha1.GroupVersion.WithResource("managedclusteraddons").GroupResource()
	errNoRight = apierrors.NewForbidden(resource, "base", errors.New("no rule allows it"))
	errDenied  = apierrors.NewForbidden(resource, "base", errors.New("admission webhook denied the request: base conflicts"))
	errBroken  = errors.New("connection refused")
)

func onC2(err error) func(client.Object) error {
	return func(object client.Object) error {
		if object.GetNamespace() == "c2" && object.GetName() == "base" {
			return err
		}
		return nil
	}
}

func TestNothingIsWrittenByATrial(t *testing.T) {
	for _, test := range []struct {
		name               string
		fails              error
		onlyPlan           bool
		problems, findings int
		exit               int
	}{
		{"all can be created", nil, false, 0, 0, cmdline.ExitOK},
		{"without the right", errNoRight, false, 1, 0, cmdline.ExitOK},
		{"a plan is worth something without the right", errNoRight, true, 0, 1, cmdline.ExitOK},
		{"what admission refuses", errDenied, true, 1, 0, cmdline.ExitOK},
		{"a hub that does not respond", errBroken, false, 0, 0, cmdline.ExitHub},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := &options{Options: planned.Options{
				Hub: hub(t, onC2(test.fails)), Only: test.onlyPlan, Verbs: []string{"create"},
			}}
			plan := layers()
			err := o.try(t.Context(), plan)
			if (err != nil) != (test.exit == cmdline.ExitHub) {
				t.Errorf("ends with %v", err)
			}
			if len(plan.Problems) != test.problems || len(plan.Findings) != test.findings {
				t.Errorf("%d problems, %d findings: %v %v", len(plan.Problems), len(plan.Findings), plan.Problems, plan.Findings)
			}
			for _, problem := range append(plan.Problems, plan.Findings...) {
				if diff := cmp.Diff([]string{"c2"}, problem.Clusters); diff != "" {
					t.Errorf("%s: %s", problem.Text, diff)
				}
			}
			if written := created(t, o.Hub); len(written) > 0 {
				t.Errorf("created %q", written)
			}
		})
	}
}

func TestATrialIsBounded(t *testing.T) {
	var clusters []string
	for i := range 1000 {
		clusters = append(clusters, fmt.Sprintf("c%04d", i))
	}
	var requests atomic.Int64
	o := &options{Options: planned.Options{Hub: hub(t, func(client.Object) error { requests.Add(1); return nil })}}
	plan := &steps.Plan{Layers: []steps.Layer{{{AddOn: "base", Clusters: clusters}}, {{AddOn: "leaf", Clusters: clusters}}}}
	if err := o.try(t.Context(), plan); err != nil {
		t.Fatal(err)
	}
	if requests.Load() != 300 || len(plan.Findings) != 1 || len(plan.Findings[0].Clusters) != 850 {
		t.Errorf("tried %d writes: %v", requests.Load(), plan.Findings)
	}
	if len(plan.Layers[0][0].Clusters) != 1000 {
		t.Error("the plan itself is shortened")
	}
}

func TestAnInterruptionSaysHowToGoOn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := &options{Options: planned.Options{Hub: hub(t, func(client.Object) error { return context.Canceled })}}
	if err := o.install(ctx, nil, layers()); err == nil || err.Error() != "layer 1 of 3: interrupted; the same command continues" {
		t.Errorf("ends with %v", err)
	}
}

func TestInstall(t *testing.T) {
	existing := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{
		Namespace: "c1", Name: "base", Labels: map[string]string{addonv1alpha1.InstalledByLabel: "me"},
	}}
	for _, test := range []struct {
		name  string
		fails error
		want  []string
		err   string
	}{
		{
			"all but what OCM installs, and what exists already", nil,
			[]string{"c1/base me", "c1/leaf kubectl-addon", "c2/base kubectl-addon", "c2/leaf kubectl-addon"},
			"",
		},
		{
			"no layer after one that fails", errDenied,
			[]string{"c1/base me"},
			"layer 1 of 3: 1 add-on could not be created, and no later layer was; the same command continues: c2/base: ",
		},
		{"no layer after a hub that fails", errBroken, []string{"c1/base me"}, "layer 1 of 3: 1 add-on could not be created"},
	} {
		t.Run(test.name, func(t *testing.T) {
			streams := genericiooptions.NewTestIOStreamsDiscard()
			o := &options{Options: planned.Options{IOStreams: streams, Hub: hub(t, onC2(test.fails), existing.DeepCopy())}}
			err := o.install(t.Context(), nil, layers())
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("ends with %v", err)
			}
			if diff := cmp.Diff(test.want, created(t, o.Hub)); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

// If an add-on becomes ready while a person reads the plan, the installation stays the same.
func TestAPlanStaysTheSameWhileOthersBecomeReady(t *testing.T) {
	clusters := []string{"c1"}
	waits := &steps.Plan{Layers: []steps.Layer{{{AddOn: "base", Clusters: clusters, Waits: true}}, {{AddOn: "leaf", Clusters: clusters}}}}
	ready := &steps.Plan{Layers: []steps.Layer{{{AddOn: "leaf", Clusters: clusters}}}}
	withBase := &steps.Plan{Layers: []steps.Layer{{{AddOn: "base", Clusters: clusters}}, {{AddOn: "leaf", Clusters: clusters}}}}
	if !same(waits, ready) || same(waits, withBase) {
		t.Error("what is waited for counts, or what is installed does not")
	}
	streams := genericiooptions.NewTestIOStreamsDiscard()
	o := &options{Options: planned.Options{IOStreams: streams, Hub: hub(t, func(client.Object) error { return nil })}}
	if err := o.install(t.Context(), nil, waits); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c1/leaf kubectl-addon"}, created(t, o.Hub)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// A user who applies the list again gets the same list. Add-ons of other writers do not change.
func TestAListStaysTheSameOnceItWasApplied(t *testing.T) {
	addOn := func(name, installer, applied string) client.Object {
		object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: name, Annotations: map[string]string{}}}
		if installer != "" {
			object.Labels = map[string]string{addonv1alpha1.InstalledByLabel: installer}
		}
		if applied != "" {
			object.Annotations["kubectl.kubernetes.io/last-applied-configuration"] = applied
		}
		return object
	}
	const label = `{"metadata": {"annotations": {}, "labels": {"dependency.addon.open-cluster-management.io/installed-by": "kubectl-addon"`
	const reference = `{"group": "addon.open-cluster-management.io", "resource": "addondeploymentconfigs",
		"namespace": "c1", "name": "interlock-set"}`
	o := &options{configured: sets.New("set", "unset"), Options: planned.Options{Hub: hub(t, nil,
		addOn("created", "kubectl-addon", ""), addOn("applied", "kubectl-addon", label+`}}, "spec": {}}`),
		addOn("configured", "kubectl-addon", label+`}}, "spec": {"configs": [{}]}}`),
		addOn("set", "kubectl-addon", label+`}}, "spec": {"configs": [`+reference+`]}}`),
		addOn("unset", "kubectl-addon", label+`}}, "spec": {}}`),
		addOn("moved", "kubectl-addon", label+`}}, "spec": {"installNamespace": "x"}}`),
		addOn("labeled", "kubectl-addon", label+`, "a": "b"}}}`),
		addOn("unreadable", "kubectl-addon", "{"), addOn("of-interlock", "interlock", ""), addOn("of-a-user", "", ""),
	)}}
	clusters := []steps.Cluster{{Cluster: whatif.Cluster{Cluster: evaluation.Cluster{Name: "c1"}}}, {}}
	if err := o.addExisting(t.Context(), clusters); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"applied", "created", "set"}, sets.List(clusters[0].Again)); diff != "" || len(clusters[1].Again) > 0 {
		t.Errorf("-want, +got:\n%s, and %v", diff, clusters[1].Again)
	}
}

func TestManifestsKeepTheirPlace(t *testing.T) {
	manifests := (&options{}).manifests(steps.Layer{
		{AddOn: "a", Clusters: []string{"c2"}},
		{AddOn: "a", Clusters: []string{"c1", "c3"}, Exists: true},
		{AddOn: "b", Clusters: []string{"c1"}},
	})
	var got []string
	for _, manifest := range manifests {
		got = append(got, manifest.Metadata.Name+" "+manifest.Metadata.Namespace)
	}
	if diff := cmp.Diff([]string{"a c1", "a c2", "a c3", "b c1"}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestManifestsHaveWhatIsInstalledAlready(t *testing.T) {
	for _, test := range []struct {
		name, want, errOut string
		step               steps.Step
	}{
		{name: "missing", step: steps.Step{}, want: "base"},
		{name: "installed by the plugin", step: steps.Step{Exists: true}, want: "base"},
		{
			name: "by OCM", step: steps.Step{ByOCM: true},
			errOut: "the list is empty: there is nothing to apply, and kubectl apply -f - fails on it\n",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			streams, _, out, errOut := genericiooptions.NewTestIOStreams()
			test.step.AddOn, test.step.Clusters = "base", []string{"c1"}
			flags, command := output.NewFlags(), &cobra.Command{}
			flags.AddTo(command)
			if err := errors.Join(command.Flags().Set("output", "jsonpath={.items[*].metadata.name}"), flags.Validate()); err != nil {
				t.Fatal(err)
			}
			o := &options{Options: planned.Options{IOStreams: streams, Flags: flags}}
			if err := o.printManifests(&steps.Plan{Layers: []steps.Layer{{test.step}}}); err != nil {
				t.Fatal(err)
			}
			if out.String() != test.want || errOut.String() != test.errOut {
				t.Errorf("prints %q and %q", out, errOut)
			}
		})
	}
}
