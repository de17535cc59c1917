package fleet

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
)

// pages serves one registered add-on on each page.
type pages struct {
	client.Reader
	names []string
}

func (p pages) List(_ context.Context, into client.ObjectList, options ...client.ListOption) error {
	var requested client.ListOptions
	requested.ApplyOptions(options)
	page := into.(*addonv1alpha1.ClusterManagementAddOnList)
	at := len(requested.Continue)
	page.Items = make([]addonv1alpha1.ClusterManagementAddOn, max(1, requested.Limit))
	page.Items[0].Name = p.names[at]
	if page.Continue = ""; at < len(p.names)-1 {
		page.Continue = requested.Continue + "+"
	}
	return nil
}

func TestAddOnsOfAllPages(t *testing.T) {
	all, err := Objects{Reader: pages{names: []string{"a", "b", "c"}}, Page: 1}.AddOns(t.Context())
	if err != nil || len(all) != 3 || all[0].Name+all[1].Name+all[2].Name != "abc" {
		t.Errorf("%v, error %v", all, err)
	}
}

// cached is a list of controller-runtime's cache.
type cached struct{ pages }

func (c cached) List(ctx context.Context, into client.ObjectList, options ...client.ListOption) error {
	defer into.SetContinue("continue-not-supported")
	return c.pages.List(ctx, into, options...)
}

func TestAddOnsOfACache(t *testing.T) {
	all, err := Objects{Reader: cached{pages{names: []string{"a"}}}}.AddOns(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("%v, error %v", all, err)
	}
}
