public import Device
public import Encoding
import Synchronization

/// One entry of the feed: a step, and whose it is.
public struct FeedEntry: Sendable {
    /// Its place in this process's feed, beginning with 1.
    public let sequence: UInt64
    /// When it happened, on the wall clock.
    public let at: Instant
    /// The device it happened to.
    public let device: DeviceID
    /// The flow it belongs to.
    public let flow: FlowID
    /// The step, with its number in the flow.
    public let step: Step
    /// The step's number in its flow, beginning with 1.
    public let number: Int

    /// The entry as the control API shows it.
    public var json: JSON {
        [
            "sequence": .int(Int64(sequence)), "at": .int(at.milliseconds), "device": .string(device.rawValue),
            "flow": .string(flow.rawValue), "step": step.json(number: number),
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
                contents.last += 1
                let entry = FeedEntry(
                    sequence: contents.last, at: now, device: device, flow: flow, step: step, number: first + offset)
                contents.past[Int(contents.last % UInt64(Self.pastLimit))] = entry
                for listener in contents.listeners.values { listener.yield(entry) }
            }
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
            let oldest = contents.last > UInt64(Self.pastLimit) ? contents.last - UInt64(Self.pastLimit) : 0
            return (entries, oldest)
        }
    }
}

extension Journal.Contents {
    fileprivate func kept(after sequence: UInt64) -> [FeedEntry] {
        let oldest = last > UInt64(Journal.pastLimit) ? last - UInt64(Journal.pastLimit) : 0
        let first = max(sequence, oldest) + 1
        guard first <= last else { return [] }
        return (first...last).compactMap { past[Int($0 % UInt64(Journal.pastLimit))] }
    }
}
