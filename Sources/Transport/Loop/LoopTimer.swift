/// A timer of one event loop: one object per purpose, set and cleared as often as its owner likes.
///
/// Moving a deadline later, which is what a busy connection does on every request, only writes `due`: the
/// entry in the heap stays where it is and is put back when it surfaces too early. That is why a timer is an
/// object and not a ticket per deadline. Used only on the loop's thread.
final class LoopTimer {
    /// When to fire, in nanoseconds of `MonotonicClock`; nil while the timer is off.
    fileprivate(set) var due: UInt64?

    /// The deadline of this timer's live entry in the heap; nil when it has none.
    fileprivate var queued: UInt64?

    fileprivate let action: () -> Void

    /// - Parameter action: runs on the loop's thread. Capture the owner weakly: the heap may hold a cleared
    ///   timer for a while.
    init(_ action: @escaping () -> Void) {
        self.action = action
    }
}

/// The timers of one loop: a binary heap of deadlines with lazy cancellation.
struct TimerHeap {
    private struct Entry {
        let at: UInt64
        let timer: LoopTimer
    }

    private var entries: [Entry] = []

    /// How many entries belong to timers that are off: swept when they are the majority.
    private var idle = 0

    /// The number of entries, dead ones included; for tests of the sweep.
    var count: Int { entries.count }

    /// The earliest moment at which `popDue` may have something to do.
    var next: UInt64? { entries.first?.at }

    /// Sets or moves a timer's deadline.
    mutating func set(_ timer: LoopTimer, due: UInt64) {
        if timer.due == nil, timer.queued != nil { idle -= 1 }
        timer.due = due
        if let queued = timer.queued, queued <= due { return }
        if timer.queued != nil { idle += 1 }  // The later entry is left behind, dead.
        timer.queued = due
        push(Entry(at: due, timer: timer))
    }

    /// Switches a timer off; it can be set again.
    mutating func clear(_ timer: LoopTimer) {
        guard timer.due != nil else { return }
        timer.due = nil
        guard timer.queued != nil else { return }
        idle += 1
        if idle > 512, idle > entries.count / 2 { sweep() }
    }

    /// The next timer whose deadline has passed, switched off and ready to be fired by the caller.
    ///
    /// - Returns: the action to run; nil when nothing is due.
    mutating func popDue(now: UInt64) -> (() -> Void)? {
        while let first = entries.first, first.at <= now {
            let entry = pop(first)
            let timer = entry.timer
            guard timer.queued == entry.at else {
                idle -= 1  // Left behind by a deadline that moved closer.
                continue
            }
            timer.queued = nil
            guard let due = timer.due else {
                idle -= 1
                continue
            }
            if due == entry.at {
                timer.due = nil
                return timer.action
            }
            // Moved later. It goes back even when it is due already: others may come before it.
            timer.queued = due
            push(Entry(at: due, timer: timer))
        }
        return nil
    }

    /// Drops the entries of timers that are off, so that cancelled long deadlines do not pile up.
    private mutating func sweep() {
        let live = entries.filter { entry in
            let isLive = entry.timer.due != nil && entry.timer.queued == entry.at
            if entry.timer.due == nil, entry.timer.queued == entry.at { entry.timer.queued = nil }
            return isLive
        }
        entries.removeAll(keepingCapacity: true)
        idle = 0
        for entry in live { push(entry) }
    }

    private mutating func push(_ entry: Entry) {
        entries.append(entry)
        var child = entries.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].at < entries[parent].at else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop(_ first: Entry) -> Entry {
        let last = entries.removeLast()
        guard !entries.isEmpty else { return first }
        entries[0] = last
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].at < entries[least].at { least = child }
            guard least != parent else { return first }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
