import Foundation
import Glibc
import Synchronization

/// One child with this process's stdin, stdout and stderr, whose end is this process's answer.
enum ChildProcess {
    /// Runs a command, hands it every SIGINT and SIGTERM this process gets, and waits for it.
    ///
    /// Returns its exit code, 128 and the number for a signal; 127 where there is no such command and 126 where it
    /// cannot be run are failures that say so.
    static func run(
        _ arguments: [String], environment: [String: String]
    ) async throws(CommandFailure) -> ExitCode {
        guard let signals = SignalListener() else {
            throw CommandFailure(
                exit: .configuration, code: "no_descriptor",
                message: "cannot listen for signals: \(String(cString: strerror(errno)))")
        }
        defer { signals.end() }
        let child = try start(arguments, environment)
        let hasEnded = Mutex(false)
        signals.tell { number in
            // Ctrl-C at a terminal reaches the whole group in front, the child among it.
            if number == SIGINT, tcgetpgrp(STDIN_FILENO) == getpgrp() { return }
            hasEnded.withLock { hasEnded in if !hasEnded { kill(child, number) } }
        }
        let status = await withCheckedContinuation { continuation in
            // A thread of its own: waiting for a child blocks it.
            Thread.detachNewThread {
                var status: Int32 = 0
                // It stays a zombie, and its number its own, until nobody can signal it any more.
                var about = siginfo_t()
                while waitid(P_PID, id_t(child), &about, WEXITED | WNOWAIT) < 0, errno == EINTR {}
                hasEnded.withLock { hasEnded in
                    hasEnded = true
                    while waitpid(child, &status, 0) < 0, errno == EINTR {}
                }
                continuation.resume(returning: status)
            }
        }
        let signal = status & 0x7F
        return signal == 0 ? ExitCode(rawValue: (status >> 8) & 0xFF) : .signal(signal)
    }

    private static func start(
        _ arguments: [String], _ environment: [String: String]
    ) throws(CommandFailure) -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // This process ignores some signals, and a child would go on ignoring them.
        var standard = sigset_t()
        sigemptyset(&standard)
        for number in [SIGINT, SIGTERM, SIGPIPE] { sigaddset(&standard, number) }
        posix_spawnattr_setsigdefault(&attributes, &standard)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF) | Int16(POSIX_SPAWN_SETSIGMASK))
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        words.append(nil)
        var variables: [UnsafeMutablePointer<CChar>?] = environment.sorted { $0.key < $1.key }
            .map { strdup("\($0.key)=\($0.value)") }
        variables.append(nil)
        defer { for text in words + variables { free(text) } }
        var child = pid_t()
        let status = posix_spawnp(&child, arguments[0], nil, &attributes, &words, &variables)
        guard status == 0 else {
            throw CommandFailure(
                exit: status == ENOENT ? .notFound : .notExecutable, code: "cannot_run",
                message: "cannot run \(arguments[0]): \(String(cString: strerror(status)))")
        }
        return child
    }
}
