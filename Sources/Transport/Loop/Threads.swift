import CLinux
import Glibc

/// Plain operating-system threads, for the loops and for the one call of the system that blocks.
enum Threads {
    private final class Body {
        let run: @Sendable () -> Void
        let name: String

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// Starts a detached thread.
    ///
    /// - Parameter name: as shown by the system, cut to 15 bytes.
    static func start(name: String, _ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(name: String(name.prefix(15)), run: run))
        var thread = pthread_t()
        let status = pthread_create(&thread, nil, { Threads.main($0) }, body.toOpaque())
        precondition(status == 0, "the system refuses a new thread: error \(status)")
        pthread_detach(thread)
    }

    private static func main(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let body = Unmanaged<Body>.fromOpaque(context).takeRetainedValue()
        understudy_name_this_thread(body.name)
        body.run()
        return nil
    }
}
