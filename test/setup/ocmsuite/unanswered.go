package ocmsuite

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"open-cluster-management.io/interlock/pkg/webhook/gateclosing"
	"open-cluster-management.io/interlock/test/testenv/ocm"
)

const (
	// gates is the webhook that prepares new add-ons, as in deploy/lifecycle.
	gates = "gates.interlock.open-cluster-management.io"
	// failedOpen is the prefix of the annotation of a request that the API server let pass because a webhook did not
	// respond in time. The annotation's value is the name of the webhook.
	failedOpen = "failed-open.mutation."
)

// Unanswered returns, by add-on, why admission did not decide on its creation: the webhook did not respond within its
// second, or could not read the hub. Both happen on a busy machine. Unanswered reads the audit log of the hub.
func Unanswered(hub *ocm.Hub) (map[types.NamespacedName]string, error) {
	file, err := os.Open(hub.AuditLog)
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	unanswered := map[types.NamespacedName]string{}
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return unanswered, nil
		}
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		event := auditv1.Event{}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		if event.ObjectRef == nil || event.ObjectRef.Resource != "managedclusteraddons" || strings.Contains(event.RequestURI, "dryRun=") {
			continue
		}
		for name, value := range event.Annotations {
			if strings.HasPrefix(name, failedOpen) && value == gates || name == gates+"/"+gateclosing.UndecidedAudit {
				unanswered[types.NamespacedName{Namespace: event.ObjectRef.Namespace, Name: event.ObjectRef.Name}] = name + ": " + value
			}
		}
	}
}
