package snapshot

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// slowHub serves a list of two pages. It accepts only a renewed token for the second page.
type slowHub struct {
	client.Reader
	renews string
}

func (h slowHub) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	requested := (&client.ListOptions{}).ApplyOptions(options)
	clusters := list.(*clusterv1.ManagedClusterList)
	switch requested.Continue {
	case "":
		clusters.Items = []clusterv1.ManagedCluster{{}}
		clusters.Items[0].Name, clusters.Continue = "cluster1", "old"
	case "renewed":
		clusters.Items = []clusterv1.ManagedCluster{{}}
		clusters.Items[0].Name = "cluster2"
	default:
		expired := apierrors.NewResourceExpired("The provided continue parameter is too old")
		expired.ErrStatus.Continue = h.renews
		return expired
	}
	return nil
}

func TestEachContinuesExpiredList(t *testing.T) {
	for name, test := range map[string]struct {
		renews string
		want   []string
		fails  bool
	}{
		"renewed token": {renews: "renewed", want: []string{"cluster1", "cluster2"}},
		"no token":      {want: []string{"cluster1"}, fails: true},
		"same token":    {renews: "old", want: []string{"cluster1"}, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			err := Each(t.Context(), slowHub{renews: test.renews}, "managedclusters", "", func(list *clusterv1.ManagedClusterList) {
				got = append(got, list.Items[0].Name)
			})
			if !slices.Equal(got, test.want) || (err != nil) != test.fails {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}
