package declarations

import (
	"context"
	"errors"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/dependency/catalog"
	"open-cluster-management.io/interlock/pkg/dependency/evaluation"
	"open-cluster-management.io/interlock/test/fixture"
)

func TestCurrent(t *testing.T) {
	plain, needing := fixture.Registration("leaf"), fixture.Registration("leaf", fixture.Required("base"))
	deployed := fixture.Deployed(plain)
	declaring, empty := fixture.Template("leaf", "v1", "[{name: base}]"), fixture.Template("leaf", "v1", "[]")
	silent := fixture.Template("leaf", "v1", "")
	broken := errors.New("the hub is busy")
	type catalogs struct {
		registration *addonv1alpha1.ClusterManagementAddOn
		template     *addonv1alpha1.AddOnTemplate
	}
	for name, test := range map[string]struct {
		cached, live catalogs
		// template is the AddOnTemplate to check. If it is empty, the registration is checked.
		template string
		fails    error
		want     bool
	}{
		"TheSame":             {cached: catalogs{&needing, nil}, live: catalogs{&needing, nil}, want: true},
		"Changed":             {cached: catalogs{&plain, nil}, live: catalogs{&needing, nil}},
		"Created":             {live: catalogs{&plain, nil}},
		"Deleted":             {cached: catalogs{&plain, nil}},
		"Neither":             {want: true},
		"CannotBeRead":        {cached: catalogs{&plain, nil}, live: catalogs{&plain, nil}, fails: broken},
		"TheSameTemplate":     {cached: catalogs{&deployed, &declaring}, live: catalogs{&deployed, &declaring}, template: "v1", want: true},
		"ChangedTemplate":     {cached: catalogs{&deployed, &empty}, live: catalogs{&deployed, &declaring}, template: "v1"},
		"CreatedTemplate":     {cached: catalogs{&deployed, nil}, live: catalogs{&deployed, &declaring}, template: "v1"},
		"DeletedTemplate":     {cached: catalogs{&deployed, &declaring}, live: catalogs{&deployed, nil}, template: "v1"},
		"NoTemplate":          {cached: catalogs{&deployed, nil}, live: catalogs{&deployed, nil}, template: "v1", want: true},
		"SilentTemplate":      {cached: catalogs{&deployed, nil}, live: catalogs{&deployed, &silent}, template: "v1", want: true},
		"CountsNowhere":       {cached: catalogs{&plain, nil}, live: catalogs{&plain, &declaring}, template: "v1", want: true},
		"UnreadableTemplates": {cached: catalogs{&deployed, nil}, live: catalogs{&deployed, nil}, template: "v1", fails: broken},
	} {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			if err := addonv1alpha1.AddToScheme(scheme); err != nil {
				t.Fatal(err)
			}
			live := fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(interceptor.Funcs{
				Get: func(ctx context.Context, hub client.WithWatch, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
					return errors.Join(test.fails, hub.Get(ctx, key, o, options...))
				},
				List: func(ctx context.Context, hub client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					return errors.Join(test.fails, hub.List(ctx, list, options...))
				},
			})
			var registrations []addonv1alpha1.ClusterManagementAddOn
			var templates []addonv1alpha1.AddOnTemplate
			if test.cached.registration != nil {
				registrations = append(registrations, *test.cached.registration)
			}
			if test.cached.template != nil {
				templates = append(templates, *test.cached.template)
			}
			if test.live.registration != nil {
				live.WithObjects(test.live.registration.DeepCopy())
			}
			if test.live.template != nil {
				live.WithObjects(test.live.template.DeepCopy())
			}
			evaluator, hub := evaluation.New(catalog.New(registrations, templates...)), live.Build()
			current, err := Current(t.Context(), hub, evaluator, "leaf")
			if test.template != "" {
				current, err = CurrentTemplate(t.Context(), hub, evaluator, test.template)
			}
			if current != test.want || !errors.Is(err, test.fails) || err != nil && !strings.HasPrefix(err.Error(), "read what ") {
				t.Errorf("current: %t, %v", current, err)
			}
		})
	}
	if current, err := CurrentTemplate(t.Context(), nil, nil, ""); !current || err != nil {
		t.Errorf("without a template: %t, %v", current, err)
	}
}
