package uninstallcmd

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/cli/planned"
	"open-cluster-management.io/interlock/pkg/cli/source"
	"open-cluster-management.io/interlock/pkg/dependency/plan/steps"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/kube/cmdline"
	"open-cluster-management.io/interlock/test/fixture"
)

func plan() *steps.Plan {
	clusters := []string{"c1"}
	return &steps.Plan{Layers: []steps.Layer{
		{{AddOn: "leaf", Clusters: clusters}},
		{{AddOn: "base", Clusters: clusters, Because: []string{"leaf"}}},
	}}
}

// hub returns a hub that records all writes but dry runs. A deletion of leaf fails with the error, unless the stored add-on is forced.
func hub(t *testing.T, failure error, writes *[]string) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addonv1alpha1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	installed := func(name string) client.Object {
		return &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: name, UID: types.UID(name)}}
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(installed("leaf"), installed("base")).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			object.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed = !errors.Is(failure, errNoRight)
			return nil
		},
		Delete: func(ctx context.Context, hub client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			stored := &addonv1alpha1.ManagedClusterAddOn{}
			if err := hub.Get(ctx, client.ObjectKeyFromObject(object), stored); err != nil {
				return err
			}
			forced := stored.Annotations[addonv1alpha1.ForceAnnotation]
			if object.GetName() == "leaf" && failure != nil && forced == "" {
				return failure
			}
			request := (&client.DeleteOptions{}).ApplyOptions(options)
			if request.Preconditions != nil && *request.Preconditions.UID != stored.UID {
				return apierrors.NewConflict(resource, object.GetName(), errors.New("the UID in the precondition does not match"))
			}
			if len(request.DryRun) == 0 {
				*writes = append(*writes, strings.TrimSpace("delete "+object.GetName()+" "+forced))
			}
			return hub.Delete(ctx, object, options...)
		},
	}).Build()
}

var (
	resource   = addonv1alpha1.GroupVersion.WithResource("managedclusteraddons").GroupResource()
	errNoRight = apierrors.NewForbidden(resource, "leaf", errors.New("no rule allows it"))
	errDenied  = apierrors.NewForbidden(resource, "leaf", errors.New("admission webhook denied the request: portal requires it"))
	errBroken  = errors.New("connection refused")
)

// reread returns a managed cluster with these add-ons. portal requires base.
func reread(t *testing.T, addOns ...string) *planned.Fleet {
	t.Helper()
	content := snapshot.Content{Registrations: []addonv1alpha1.ClusterManagementAddOn{
		fixture.Specified(t, "base", "{}"), fixture.Specified(t, "portal", "dependencies: [{name: base}]"),
	}}
	content.Clusters = []clusterv1.ManagedCluster{{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}}
	content.Clusters[0].Status.Conditions = []metav1.Condition{
		{Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue},
	}
	for _, name := range addOns {
		content.AddOns = append(content.AddOns, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: "c1", Name: name}})
	}
	fleet := snapshot.New(content)
	return &planned.Fleet{Snapshot: fleet, Clusters: []steps.Cluster{{Cluster: fleet.Whole("c1")}}}
}

func TestUninstall(t *testing.T) {
	for _, test := range []struct {
		name    string
		force   string
		failure error
		// installed has add-ons that were installed meanwhile. replaced is an add-on that was created again.
		installed []string
		replaced  string
		want      []string
		err       string
	}{
		{name: "dependents first", want: []string{"delete leaf", "delete base"}},
		{
			name: "no layer that another add-on requires meanwhile", installed: []string{"portal"}, want: []string{"delete leaf"},
			err: "layer 2 of 2: nothing more was deleted, because the hub has changed since the plan was made: 'portal', which stays, requires base",
		},
		{
			name: "no add-on that was created again", replaced: "base", want: []string{"delete leaf"},
			err: "layer 2 of 2: 1 add-on could not be deleted",
		},
		{name: "no layer after a failed layer", failure: errDenied, err: "layer 1 of 2: 1 add-on could not be deleted, and no later layer was"},
		{name: "a forced deletion after its reason", force: "why", failure: errDenied, want: []string{"delete leaf why", "delete base why"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var writes []string
			o := &options{force: test.force, Options: planned.Options{Hub: hub(t, test.failure, &writes), Verbs: []string{"delete"}}}
			o.Source = &source.Source{Config: genericclioptions.NewConfigFlags(true)}
			o.IOStreams = genericiooptions.NewTestIOStreamsDiscard()
			o.uids = map[types.NamespacedName]types.UID{{Namespace: "c1", Name: test.replaced}: "before"}
			o.reread = func(context.Context) (*planned.Fleet, error) {
				return reread(t, append(test.installed, "base")...), nil
			}
			err := o.uninstall(t.Context(), plan())
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Errorf("ends with %v", err)
			}
			if diff := cmp.Diff(test.want, writes); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestTrialDeletesNothing(t *testing.T) {
	for _, test := range []struct {
		name, force string
		failure     error
		problems    int
		exit        int
	}{
		{"all can be deleted", "", nil, 0, cmdline.ExitOK},
		{"without the right", "", errNoRight, 1, cmdline.ExitOK},
		{"refused by protection", "", errDenied, 1, cmdline.ExitOK},
		{"allowed by protection with a reason", "why", errDenied, 0, cmdline.ExitOK},
		{"without the right, with a reason", "why", errNoRight, 1, cmdline.ExitOK},
		{"a hub that does not respond", "", errBroken, 0, cmdline.ExitHub},
	} {
		t.Run(test.name, func(t *testing.T) {
			var writes []string
			o := &options{force: test.force, Options: planned.Options{Hub: hub(t, test.failure, &writes), Verbs: []string{"delete"}}}
			tried := plan()
			if err := o.try(t.Context(), tried); (err != nil) != (test.exit == cmdline.ExitHub) {
				t.Errorf("ends with %v", err)
			}
			if len(tried.Problems) != test.problems {
				t.Errorf("problems %v", tried.Problems)
			}
			if len(writes) > 0 {
				t.Errorf("writes %q", writes)
			}
			for _, name := range []string{"leaf", "base"} {
				stored := &addonv1alpha1.ManagedClusterAddOn{}
				if err := o.Hub.Get(t.Context(), client.ObjectKey{Namespace: "c1", Name: name}, stored); err != nil || len(stored.Annotations) > 0 {
					t.Errorf("%s has %v, %v", name, stored.Annotations, err)
				}
			}
		})
	}
}

func TestRemainingCommandsArePrinted(t *testing.T) {
	clusters := []string{"c1", "c2"}
	remaining := []steps.Layer{
		{{AddOn: "gone", Clusters: clusters[:1], Waits: true}, {AddOn: "mid", Clusters: clusters}},
		{{AddOn: "base", Clusters: []string{"c3"}}, {AddOn: "base", Clusters: clusters, Because: []string{"mid"}}},
	}
	for _, test := range []struct {
		name  string
		wait  bool
		force string
		flags string
	}{
		{"without flags", false, "", ""},
		{"with flags", true, "it's replaced", ` --wait --force 'it'\''s replaced'`},
	} {
		t.Run(test.name, func(t *testing.T) {
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			o := &options{force: test.force, Options: planned.Options{
				IOStreams: streams, Source: &source.Source{Config: genericclioptions.NewConfigFlags(true)}, Wait: test.wait,
			}}
			o.printRemaining(remaining)
			want := "\nLeft to uninstall:\n" +
				"run  kubectl addon uninstall base --cluster c3" + test.flags + "\n" +
				"run  kubectl addon uninstall mid base --cluster c1,c2" + test.flags + "\n"
			if diff := cmp.Diff(want, errOut.String()); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}
		})
	}
}

func TestFirst(t *testing.T) {
	tried := first(&steps.Plan{Layers: []steps.Layer{
		{{AddOn: "gone", Clusters: []string{"c1"}, Waits: true}, {AddOn: "leaf", Clusters: []string{"c2"}}},
		{{AddOn: "base", Clusters: []string{"c1", "c2"}}},
	}})
	want := steps.Layer{{AddOn: "leaf", Clusters: []string{"c2"}}, {AddOn: "base", Clusters: []string{"c1"}}}
	if diff := cmp.Diff(want, tried); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}
