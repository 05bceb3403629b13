import Foundation
import Glibc
import Synchronization

/// Hears SIGINT and SIGTERM from the moment it is made: one that comes before anybody can answer it waits.
///
/// A dispatch source would lose what comes between its making and its registration. Here a handler, installed at once, writes
/// the number into a pipe, and a thread reads it there. A process has one listener at a time.
final class SignalListener: Sendable {
    static let numbers = [SIGINT, SIGTERM]
    /// Where the handler writes; nowhere while there is no listener.
    private static let writingEnd = Atomic<Int32>(-1)

    private let ends: (reading: Int32, writing: Int32)

    /// Begins to listen; nil where the process is out of descriptors.
    init?() {
        var pair: [Int32] = [-1, -1]
        guard pipe(&pair) == 0 else { return nil }
        for end in pair { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        ends = (pair[0], pair[1])
        Self.writingEnd.store(pair[1], ordering: .sequentiallyConsistent)
        for number in Self.numbers {
            // What may be called in here is little: no allocation, no lock.
            signal(number) { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                write(SignalListener.writingEnd.load(ordering: .relaxed), &byte, 1)
                errno = before
            }
        }
    }

    /// Tells of every signal, those that came already first, on a thread of its own.
    func tell(_ heard: @escaping @Sendable (Int32) -> Void) {
        let reading = ends.reading
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while true {
                switch read(reading, &byte, 1) {
                case 1: heard(Int32(byte))
                case -1 where errno == EINTR: continue
                default:
                    close(reading)
                    return
                }
            }
        }
    }

    /// Listens no more: from here on both signals are ignored, and the thread ends.
    func end() {
        for number in Self.numbers { signal(number, SIG_IGN) }
        Self.writingEnd.store(-1, ordering: .sequentiallyConsistent)
        close(ends.writing)
    }
}
