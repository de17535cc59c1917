package viewers

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"

	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
)

// everything are the permissions of a viewer who may see the whole fleet.
var everything = snapshot.Permissions{
	Policies: true, Templates: true, Configs: true, Placements: true, Decisions: true, Facts: true, Installations: true, OCM: true, Manager: true,
}

func isEverything(permitted snapshot.Permissions) bool { return keyOf(permitted) == keyOf(everything) }

// keyOf returns the same text for equal permissions, and other texts for all others.
func keyOf(permitted snapshot.Permissions) string {
	hash := sha256.New()
	if permitted.Clusters != nil {
		// The names have no other characters than those of DNS, and the encoding of a list is unambiguous for any.
		encoded, err := json.Marshal(sets.List(permitted.Clusters))
		if err != nil {
			panic(err) // a list of strings has an encoding
		}
		_, _ = hash.Write(encoded) // a hash has no errors
	}
	isWhole := permitted.Clusters == nil
	permitted.Clusters = nil
	return fmt.Sprintf("%t %v %x", isWhole, permitted, hash.Sum(nil))
}
