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

func TestWhetherACatalogIsCurrent(t *testing.T) {
	plain, needing := fixture.Registration("leaf"), fixture.Registration("leaf", fixture.Required("base"))
	deployed := fixture.Deployed(plain)
	declaring, another := fixture.Template("leaf", "v1", "[{name: base}]"), fixture.Template("leaf", "v1", "[]")
	silent := fixture.Template("leaf", "v1", "")
	broken := errors.New("the hub is busy")
	type catalogs struct {
		registered *addonv1alpha1.ClusterManagementAddOn
		template   *addonv1alpha1.AddOnTemplate
	}
	for name, test := range map[string]struct {
		known, live catalogs
		// template is the one that is asked about; empty: the registration is.
		template string
		fails    error
		want     bool
	}{
		"TheSame":             {known: catalogs{&needing, nil}, live: catalogs{&needing, nil}, want: true},
		"Changed":             {known: catalogs{&plain, nil}, live: catalogs{&needing, nil}},
		"Created":             {live: catalogs{&plain, nil}},
		"Deleted":             {known: catalogs{&plain, nil}},
		"Neither":             {want: true},
		"CannotBeRead":        {known: catalogs{&plain, nil}, live: catalogs{&plain, nil}, fails: broken},
		"TheSameTemplate":     {known: catalogs{&deployed, &declaring}, live: catalogs{&deployed, &declaring}, template: "v1", want: true},
		"ChangedTemplate":     {known: catalogs{&deployed, &another}, live: catalogs{&deployed, &declaring}, template: "v1"},
		"CreatedTemplate":     {known: catalogs{&deployed, nil}, live: catalogs{&deployed, &declaring}, template: "v1"},
		"DeletedTemplate":     {known: catalogs{&deployed, &declaring}, live: catalogs{&deployed, nil}, template: "v1"},
		"NoTemplate":          {known: catalogs{&deployed, nil}, live: catalogs{&deployed, nil}, template: "v1", want: true},
		"SilentTemplate":      {known: catalogs{&deployed, nil}, live: catalogs{&deployed, &silent}, template: "v1", want: true},
		"CountsNowhere":       {known: catalogs{&plain, nil}, live: catalogs{&plain, &declaring}, template: "v1", want: true},
		"UnreadableTemplates": {known: catalogs{&deployed, nil}, live: catalogs{&deployed, nil}, template: "v1", fails: broken},
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
			var registered []addonv1alpha1.ClusterManagementAddOn
			var templates []addonv1alpha1.AddOnTemplate
			if test.known.registered != nil {
				registered = append(registered, *test.known.registered)
			}
			if test.known.template != nil {
				templates = append(templates, *test.known.template)
			}
			if test.live.registered != nil {
				live.WithObjects(test.live.registered.DeepCopy())
			}
			if test.live.template != nil {
				live.WithObjects(test.live.template.DeepCopy())
			}
			evaluator, hub := evaluation.New(catalog.New(registered, templates...)), live.Build()
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
