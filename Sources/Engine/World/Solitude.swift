import Synchronization

/// Keeps everybody else out while the whole world is saved or replaced.
final class Solitude: Sendable {
    private let isTaken = Mutex(false)

    /// Throws `.worldBusy` while somebody has the world to themselves.
    func check() throws(EngineError) {
        if isTaken.withLock({ $0 }) { throw .worldBusy }
    }

    /// Takes the world; throws `.worldBusy` where somebody has it already.
    func take() throws(EngineError) {
        let isMine = isTaken.withLock { taken in
            defer { taken = true }
            return !taken
        }
        guard isMine else { throw .worldBusy }
    }

    /// Lets the others in again.
    func give() { isTaken.withLock { $0 = false } }
}

extension Engine {
    /// Runs some work that nobody else of this process sees the half of, while no flow and no call is under way.
    ///
    /// With `replacing` the store holds another world afterwards, and nothing of the earlier one is remembered. Throws
    /// `.flowsUnderWay`, `.worldBusy`, or what the work throws, as `.storage` where that is no error of the engine.
    public func alone<T: Sendable>(
        replacing: Bool = false, _ work: @Sendable () async throws -> T
    ) async throws(EngineError) -> T {
        try world.solitude.take()
        defer { world.solitude.give() }
        await settle(within: Self.patience)
        let underWay = max(registry.held.count, world.underWay.number)
        guard underWay == 0 else { throw .flowsUnderWay(underWay) }
        let result: T
        do {
            result = try await work()
        } catch let error as EngineError {
            throw error
        } catch {
            throw .storage("\(error)")
        }
        if replacing { forgetEverything() }
        return result
    }

    /// How long aborts and revocations that nobody waits for are waited for, in milliseconds.
    private static let patience = 2000

    private func forgetEverything() {
        registry.forgetAll()
        world.secrets.wipeAll()
        world.roots.forget()
    }
}
