/// The virtual camera: scripted scans first, in order, then the same answer for ever.
public struct Camera: Codable, Sendable, Hashable {
    /// The most scans the queue holds.
    public static let longestQueue = 256

    /// The scans still to come, the next one first.
    public private(set) var queue: [ScanOutcome]
    /// What every scan shows once the queue is empty.
    public var fallback: ScanOutcome

    /// Makes a camera whose every scan shows `fallback`.
    public init(fallback: ScanOutcome = .match) {
        self.queue = []
        self.fallback = fallback
    }

    /// Makes a camera that shows `queue`, then `fallback`.
    ///
    /// Throws `DeviceTextError.cameraQueueFull` when the queue is longer than `longestQueue`.
    public init(queue: [ScanOutcome], fallback: ScanOutcome = .match) throws(DeviceTextError) {
        self.init(fallback: fallback)
        try append(queue)
    }

    /// Takes the next scan off the queue, or gives the fallback.
    public mutating func next() -> ScanOutcome {
        queue.isEmpty ? fallback : queue.removeFirst()
    }

    /// Puts scans at the end of the queue: all of them, or none with `DeviceTextError.cameraQueueFull`.
    public mutating func append(_ scans: [ScanOutcome]) throws(DeviceTextError) {
        guard queue.count + scans.count <= Self.longestQueue else { throw .cameraQueueFull(limit: Self.longestQueue) }
        queue += scans
    }

    /// Forgets the scripted scans; the fallback stays.
    public mutating func clearQueue() {
        queue.removeAll()
    }

    private enum CodingKeys: CodingKey { case queue, fallback }

    /// Decodes a camera, refusing a queue longer than `longestQueue`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            queue: container.decode([ScanOutcome].self, forKey: .queue),
            fallback: container.decode(ScanOutcome.self, forKey: .fallback))
    }
}
