public import Device
public import Encoding
import Synchronization

/// One entry of the feed: a step, and whose it is.
public struct FeedEntry: Sendable {
    /// Its place in this process's feed, beginning with 1.
    public let sequence: UInt64
    /// When it happened, on the wall clock.
    public let at: Instant
    /// The device it happened to; nil for what concerns the whole world.
    public let device: DeviceID?
    /// The flow it belongs to; nil for what happened outside of any.
    public let flow: FlowID?
    /// The step, with its number in the flow.
    public let step: Step
    /// The step's number in its flow, beginning with 1; 0 outside of any.
    public let number: Int

    /// The entry as the control API shows it.
    public var json: JSON {
        [
            "sequence": .int(Int64(sequence)), "at": .int(at.milliseconds),
            "device": device.map { .string($0.rawValue) } ?? .null, "flow": flow.map { .string($0.rawValue) } ?? .null,
            "step": step.json(number: number),
        ]
    }
}

/// The live feed of everything that happens: a bounded past, and whoever listens.
final class Journal: Sendable {
    /// How many past entries a late listener can still get.
    static let pastLimit = 4096
    /// How many entries wait for a slow listener before its oldest are dropped.
    static let listenerLimit = 1024

    fileprivate struct Contents {
        var last: UInt64 = 0
        /// The last entry that somebody cleared away.
        var cleared: UInt64 = 0
        var past: [FeedEntry?] = Array(repeating: nil, count: pastLimit)
        var listeners: [UInt64: AsyncStream<FeedEntry>.Continuation] = [:]
        var lastListener: UInt64 = 0
    }

    private let contents = Mutex(Contents())

    /// Publishes steps of a flow; `first` is the number of the first of them.
    func publish(_ steps: ArraySlice<Step>, first: Int, device: DeviceID, flow: FlowID, at now: Instant) {
        guard !steps.isEmpty else { return }
        contents.withLock { contents in
            for (offset, step) in steps.enumerated() {
                contents.append(step, number: first + offset, device: device, flow: flow, at: now)
            }
        }
    }

    /// Publishes what happened outside of any flow, to a device or, without one, to the whole world.
    func publish(_ event: JournalEvent, device: DeviceID?, at now: Instant) {
        contents.withLock { $0.append(.event(event), number: 0, device: device, flow: nil, at: now) }
    }

    /// Forgets the past and returns how many entries that were; numbering begins anew where `rewinding`.
    func clear(rewinding: Bool) -> Int {
        contents.withLock { contents in
            let count = contents.kept(after: 0).count
            contents.past = Array(repeating: nil, count: Self.pastLimit)
            contents.cleared = contents.last
            if rewinding { (contents.last, contents.cleared) = (0, 0) }
            return count
        }
    }

    /// The entries after `sequence` that are still kept, and all that follow.
    func feed(after sequence: UInt64) -> AsyncStream<FeedEntry> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: FeedEntry.self, bufferingPolicy: .bufferingNewest(Self.listenerLimit + Self.pastLimit))
        let number = contents.withLock { contents in
            for entry in contents.kept(after: sequence) { continuation.yield(entry) }
            contents.lastListener += 1
            contents.listeners[contents.lastListener] = continuation
            return contents.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.contents.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// The entries after `sequence` that are still kept, oldest first, and how many were dropped before them.
    func past(after sequence: UInt64) -> (entries: [FeedEntry], dropped: UInt64) {
        contents.withLock { contents in
            let entries = contents.kept(after: sequence)
            return (entries, contents.oldestGone)
        }
    }
}

extension Journal.Contents {
    /// The newest entry that is not kept any more.
    fileprivate var oldestGone: UInt64 {
        max(cleared, last > UInt64(Journal.pastLimit) ? last - UInt64(Journal.pastLimit) : 0)
    }

    fileprivate mutating func append(_ step: Step, number: Int, device: DeviceID?, flow: FlowID?, at now: Instant) {
        last += 1
        let entry = FeedEntry(sequence: last, at: now, device: device, flow: flow, step: step, number: number)
        past[Int(last % UInt64(Journal.pastLimit))] = entry
        for listener in listeners.values { listener.yield(entry) }
    }

    fileprivate func kept(after sequence: UInt64) -> [FeedEntry] {
        let first = max(sequence, oldestGone) + 1
        guard first <= last else { return [] }
        return (first...last).compactMap { past[Int($0 % UInt64(Journal.pastLimit))] }
    }
}
