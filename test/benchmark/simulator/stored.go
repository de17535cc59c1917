package simulator

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	clientv3 "go.etcd.io/etcd/client/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// storedAt is the prefix of an add-on's keys in etcd.
const storedAt = "/registry/addon.open-cluster-management.io/managedclusteraddons/"

// stored are the add-ons of one cluster in the API server's storage. The other clusters of a fleet get copies of
// them, because an installation of 100,000 add-ons through the API server takes half an hour.
type stored struct {
	etcd    *clientv3.Client
	cluster string
	addOns  []storedAddOn
}

type storedAddOn struct{ name, uid, value string }

// readStored reads the add-ons of a cluster.
func (h *Hub) readStored(ctx context.Context, cluster string) (*stored, error) {
	etcd, err := clientv3.New(clientv3.Config{Endpoints: []string{h.cluster.EtcdURL()}, Context: context.WithoutCancel(ctx)})
	if err != nil {
		return nil, fmt.Errorf("connect to etcd: %w", err)
	}
	folder := storedAt + cluster + "/"
	response, err := etcd.Get(ctx, folder, clientv3.WithPrefix())
	if err != nil {
		return nil, fmt.Errorf("read the add-ons of %s: %w", cluster, err)
	}
	s := &stored{etcd: etcd, cluster: cluster}
	for _, pair := range response.Kvs {
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(pair.Value, &object); err != nil {
			return nil, fmt.Errorf("decode %s: %w", pair.Key, err)
		}
		s.addOns = append(s.addOns, storedAddOn{strings.TrimPrefix(string(pair.Key), folder), string(object.UID), string(pair.Value)})
	}
	return s, nil
}

// copyTo stores the add-ons for another cluster, with that cluster's name in place of the first one, and new UIDs.
func (s *stored) copyTo(ctx context.Context, cluster string) error {
	puts := make([]clientv3.Op, len(s.addOns))
	for i, addOn := range s.addOns {
		value := strings.NewReplacer(addOn.uid, uuid.NewString(), s.cluster, cluster).Replace(addOn.value)
		puts[i] = clientv3.OpPut(storedAt+cluster+"/"+addOn.name, value)
	}
	if _, err := s.etcd.Txn(ctx).Then(puts...).Commit(); err != nil {
		return fmt.Errorf("store the add-ons of %s: %w", cluster, err)
	}
	return nil
}
