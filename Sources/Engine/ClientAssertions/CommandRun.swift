import Foundation
import Glibc
import Synchronization

/// One run of a shell command: input in, output out, an end in time.
public enum CommandRun {
    /// What became of it.
    public enum Outcome: Sendable {
        /// The system refused, with its reason.
        case notStarted(String)
        /// It was killed when its time was over; with what it said on standard error until then.
        case tooLate(said: [UInt8])
        /// It ended with this code (128 and the signal's number for one that was killed).
        case ended(code: Int32, printed: [UInt8], said: [UInt8])
    }

    /// Bytes that are kept of each output; what comes behind them is read and dropped.
    private static let outputLimit = 64 << 10

    /// Commands that run at once; the others wait their turn.
    private static let turns: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        return queue
    }()

    /// Runs a command under `/bin/sh -c` with this process's environment; `input`, at most 4096 bytes, stands on its
    /// standard input.
    ///
    /// It is killed, with what it started, when it takes longer than `timeoutMilliseconds`.
    public static func shell(_ command: String, input: [UInt8], timeoutMilliseconds: Int) async -> Outcome {
        await withCheckedContinuation { continuation in
            turns.addOperation {
                continuation.resume(
                    returning: blocking(command, input: input, timeoutMilliseconds: timeoutMilliseconds))
            }
        }
    }

    /// Runs a command and waits for it, blocking this thread; `input` must be small.
    static func blocking(_ command: String, input: [UInt8], timeoutMilliseconds: Int) -> Outcome {
        let started = starting.withLock { _ in start(command, input: input) }
        switch started {
        case .success(let run): return wait(for: run.child, run.pipes, until: .now + .milliseconds(timeoutMilliseconds))
        case .failure(let refusal): return .notStarted(String(cString: strerror(refusal.error)))
        }
    }

    /// One start at a time: a pipe inherits nothing only once it was told so, and no other child must have it.
    private static let starting = Mutex<Void>(())

    private struct Refusal: Error {
        let error: Int32
    }

    private static func start(_ command: String, input: [UInt8]) -> Result<(child: pid_t, pipes: Pipes), Refusal> {
        guard let pipes = Pipes(input: input) else { return .failure(Refusal(error: errno)) }
        var child = pid_t()
        let status = spawn(command, pipes, &child)
        pipes.closeTheirs()
        guard status == 0 else {
            pipes.closeOurs()
            return .failure(Refusal(error: status))
        }
        return .success((child, pipes))
    }

    private static func spawn(_ command: String, _ pipes: Pipes, _ child: inout pid_t) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipes.input, 0)
        posix_spawn_file_actions_adddup2(&actions, pipes.outputEnd, 1)
        posix_spawn_file_actions_adddup2(&actions, pipes.errorEnd, 2)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A group of its own, so that what the command started can be ended with it.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        posix_spawnattr_setpgroup(&attributes, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = []
        for text in ["sh", "-c", command] { arguments.append(strdup(text)) }
        arguments.append(nil)
        defer { for argument in arguments { free(argument) } }
        return posix_spawn(&child, "/bin/sh", &actions, &attributes, &arguments, environ)
    }

    private static func wait(for child: pid_t, _ pipes: Pipes, until end: ContinuousClock.Instant) -> Outcome {
        defer { pipes.closeOurs() }
        var printed: [UInt8] = []
        var said: [UInt8] = []
        var status: Int32 = 0
        while true {
            let hasEnded = waitpid(child, &status, WNOHANG) == child
            pipes.read(&printed, &said, waiting: hasEnded ? 0 : 5)
            if hasEnded { return .ended(code: code(of: status), printed: printed, said: said) }
            guard ContinuousClock.now < end else { break }
        }
        kill(-child, SIGKILL)
        waitpid(child, &status, 0)
        return .tooLate(said: said)
    }

    /// The exit code as a shell tells it.
    private static func code(of status: Int32) -> Int32 {
        let signal = status & 0x7F
        return signal == 0 ? (status >> 8) & 0xFF : 128 + signal
    }

    /// Three pipes: the input is written already, the outputs are read without blocking.
    private final class Pipes {
        let input: Int32
        let outputEnd: Int32
        let errorEnd: Int32
        private let output: Int32
        private let errors: Int32

        init?(input bytes: [UInt8]) {
            var ends: [[Int32]] = []
            for _ in 0..<3 {
                var pair: [Int32] = [0, 0]
                guard pipe(&pair) == 0, pair.allSatisfy({ fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }) else {
                    let failure = errno
                    for end in ends.joined() { close(end) }
                    errno = failure
                    return nil
                }
                ends.append(pair)
            }
            precondition(bytes.count <= 4096, "the input fits the pipe")
            let written = bytes.withUnsafeBytes { write(ends[0][1], $0.baseAddress, $0.count) }
            precondition(written == bytes.count, "an empty pipe takes a page")
            close(ends[0][1])
            input = ends[0][0]
            (output, outputEnd) = (ends[1][0], ends[1][1])
            (errors, errorEnd) = (ends[2][0], ends[2][1])
        }

        func closeTheirs() { for end in [input, outputEnd, errorEnd] { close(end) } }

        func closeOurs() { for end in [output, errors] { close(end) } }

        /// Takes what there is, waiting at most so many milliseconds for the first of it.
        func read(_ printed: inout [UInt8], _ said: inout [UInt8], waiting milliseconds: Int32) {
            var waiting = milliseconds
            while true {
                var ready = [
                    pollfd(fd: output, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&ready, 2, waiting) > 0, ready.contains(where: { $0.revents & Int16(POLLIN) != 0 }) else {
                    // Both closed and the process still there: not to be asked again and again.
                    if waiting > 0, ready.allSatisfy({ $0.revents != 0 }) { usleep(useconds_t(waiting) * 1000) }
                    return
                }
                if ready[0].revents & Int16(POLLIN) != 0 { take(from: output, into: &printed) }
                if ready[1].revents & Int16(POLLIN) != 0 { take(from: errors, into: &said) }
                waiting = 0
            }
        }

        private func take(from end: Int32, into bytes: inout [UInt8]) {
            var block = [UInt8](repeating: 0, count: 4096)
            let count = Glibc.read(end, &block, block.count)
            guard count > 0 else { return }
            bytes += block.prefix(min(count, max(0, CommandRun.outputLimit - bytes.count)))
        }
    }
}
