/// A timer set from any thread.
///
/// Sendable by hand: the timer inside is touched on the loop only.
final class LoopDeadline: @unchecked Sendable {
    private let loop: EventLoop
    private let timer: LoopTimer

    /// Has an action run on the loop's thread after some time, unless cancelled before.
    init(loop: EventLoop, milliseconds: Int, _ action: @escaping @Sendable () -> Void) {
        self.loop = loop
        timer = LoopTimer(action)
        loop.execute { [self] in loop.set(timer, milliseconds: milliseconds) }
    }

    /// Switches it off.
    func cancel() {
        loop.execute { [self] in loop.clear(timer) }
    }
}
