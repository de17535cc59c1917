package available

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// assertions has, by add-on, the finding on dependencies that Available was set to.
// A restart empties it; each finding is then asserted once more. The zero value is
// ready to use.
type assertions struct {
	mutex    sync.Mutex
	findings map[types.NamespacedName]string
}

func (a *assertions) of(addOn types.NamespacedName) string {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	return a.findings[addOn]
}

// remember replaces what is known of the add-on; an empty finding deletes it.
func (a *assertions) remember(addOn types.NamespacedName, finding string) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if finding == "" {
		delete(a.findings, addOn)
		return
	}
	if a.findings == nil {
		a.findings = map[types.NamespacedName]string{}
	}
	a.findings[addOn] = finding
}
