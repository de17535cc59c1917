package fleet

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// pages serves a registered add-on on each page.
type pages struct {
	client.Reader
	names []string
}

func (p pages) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var requested client.ListOptions
	requested.ApplyOptions(options)
	page := list.(*addonv1alpha1.ClusterManagementAddOnList)
	index := len(requested.Continue)
	page.Items = make([]addonv1alpha1.ClusterManagementAddOn, max(1, requested.Limit))
	page.Items[0].Name = p.names[index]
	if page.Continue = ""; index < len(p.names)-1 {
		page.Continue = requested.Continue + "+"
	}
	return nil
}

func TestAddOnsReadsAllPages(t *testing.T) {
	addOns, err := Objects{Reader: pages{names: []string{"a", "b", "c"}}, Page: 1}.AddOns(t.Context())
	if err != nil || len(addOns) != 3 || addOns[0].Name+addOns[1].Name+addOns[2].Name != "abc" {
		t.Errorf("%v, error %v", addOns, err)
	}
}

// cached is a list of controller-runtime's cache.
type cached struct{ pages }

func (c cached) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	defer list.SetContinue("continue-not-supported")
	return c.pages.List(ctx, list, options...)
}

func TestAddOnsReadsCache(t *testing.T) {
	addOns, err := Objects{Reader: cached{pages{names: []string{"a"}}}}.AddOns(t.Context())
	if err != nil || len(addOns) != 1 {
		t.Errorf("%v, error %v", addOns, err)
	}
}
