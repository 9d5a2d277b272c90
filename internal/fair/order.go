package fair

import (
	"container/heap"
	"container/list"
	"time"
)

// order has flows that share something, each with its own part of what waits. It
// is start-time fair queuing (Goyal, Vin and Cheng, 1996): a flow has a virtual
// time, which grows by what the flow uses, and the flow with the least is next. A
// flow that begins starts at the present virtual time, so that it neither pays for
// what others used before, nor saves up for later.
//
// The cost of a piece of work is known only after it. So a flow stays while its
// virtual time is ahead of the present, even if nothing of it waits: work that took
// long is paid for before the next. A flow is ahead by a bounded debt at most: with a
// hundred flows that wait, a flow waits a hundred times as long as its debt.
type order struct {
	flows map[string]*flow
	heads flowHeap
	now   float64 // the virtual time of the flow that was served last
	total int     // how many wait, in all flows
	begun int     // how many flows have begun
}

// flow is an app, or a user of an app.
type flow struct {
	name    string
	used    float64 // its virtual time
	number  int     // in the order in which flows began
	place   int     // in the heap
	waiting int

	users *order        // of an app
	mean  time.Duration // that a turn of an app takes
	items list.List     // of a user, first come first
}

func newOrder() *order { return &order{flows: map[string]*flow{}} }

// flow returns the flow of a name, and makes it if it is missing.
func (o *order) flow(name string) *flow {
	f := o.flows[name]
	if f == nil {
		o.begun++
		f = &flow{name: name, used: o.now, number: o.begun}
		o.flows[name] = f
		heap.Push(&o.heads, f)
	}
	return f
}

// add counts one more that waits in a flow, or with -1 one less.
func (o *order) add(f *flow, n int) {
	f.waiting += n
	o.total += n
	switch {
	case o.total == 0:
		// Nobody waits, so there is nothing to share.
		*o = *newOrder()
	case f.waiting == 0 && f.used <= o.now:
		o.drop(f)
	}
}

// next returns the flow whose turn it is. There is one if something waits.
func (o *order) next() *flow {
	for {
		f := o.heads[0]
		o.now = max(o.now, f.used)
		if f.waiting > 0 {
			return f
		}
		o.drop(f) // it has paid for what it used
	}
}

func (o *order) drop(f *flow) {
	heap.Remove(&o.heads, f.place)
	delete(o.flows, f.name)
}

// charge adds to what a flow has used, or takes from it what was added too much. Beyond
// debt it owes nothing. A flow of which nothing is left to order has nothing to pay.
func (o *order) charge(name string, cost, debt float64) *flow {
	if o.total == 0 || o.flows[name] == nil && cost <= 0 {
		return nil
	}
	f := o.flow(name)
	f.used = max(o.now, min(f.used+cost, o.now+debt))
	heap.Fix(&o.heads, f.place)
	return f
}

// flowHeap implements heap.Interface: the flow that has used least comes first, and
// of equal ones the one that began first.
type flowHeap []*flow

func (h flowHeap) Len() int { return len(h) }

func (h flowHeap) Less(i, j int) bool {
	return h[i].used < h[j].used || h[i].used == h[j].used && h[i].number < h[j].number
}

func (h flowHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].place, h[j].place = i, j
}

// Push implements heap.Interface.
func (h *flowHeap) Push(x any) {
	f := x.(*flow)
	f.place = len(*h)
	*h = append(*h, f)
}

// Pop implements heap.Interface.
func (h *flowHeap) Pop() any {
	last := len(*h) - 1
	f := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return f
}
