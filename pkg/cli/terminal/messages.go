package terminal

import (
	"fmt"
	"io"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"open-cluster-management.io/interlock/pkg/text"
)

// drawInterval is the shortest time between two progress lines. Faster changes cannot be read.
const drawInterval = 100 * time.Millisecond

// Messages is an output for messages, which it makes safe. On a screen, it has a line below the messages that shows the progress of
// an operation. A nil *Messages shows no progress.
type Messages struct {
	// Clock is the real time.
	Clock clock.PassiveClock

	out  io.Writer
	safe io.Writer

	mutex sync.Mutex
	shown bool
	last  time.Time
}

// NewMessages returns an output without messages.
func NewMessages(out io.Writer) *Messages {
	return &Messages{out: out, safe: text.NewWriter(out), Clock: clock.RealClock{}}
}

// Screen implements Output.
func (m *Messages) Screen() Screen { return ScreenOf(m.out) }

// Write implements io.Writer. It replaces the progress line.
func (m *Messages) Write(message []byte) (int, error) {
	m.Clear()
	return m.safe.Write(message)
}

// ShowProgress replaces the progress line. It shows nothing without a screen, and leaves out lines that follow each other too fast.
func (m *Messages) ShowProgress(line string) {
	if m == nil {
		return
	}
	width := m.Screen().Width
	m.mutex.Lock()
	defer m.mutex.Unlock()
	now := m.Clock.Now()
	if width == 0 || m.shown && now.Sub(m.last) < drawInterval {
		return
	}
	m.shown, m.last = true, now
	fmt.Fprint(m.out, clearLine+Cut(text.OneLine(line), width-1))
}

// Clear removes the progress line.
func (m *Messages) Clear() {
	if m == nil {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.shown {
		fmt.Fprint(m.out, clearLine)
	}
	m.shown = false
}

// Above returns an output on the same screen. Each write to it removes the progress line first.
func (m *Messages) Above(out io.Writer) io.Writer { return outputAbove{out, m} }

type outputAbove struct {
	io.Writer
	messages *Messages
}

// Write implements io.Writer.
func (o outputAbove) Write(content []byte) (int, error) {
	o.messages.Clear()
	return o.Writer.Write(content)
}

// Screen implements Output.
func (o outputAbove) Screen() Screen { return ScreenOf(o.Writer) }
