/// What the program tells its caller when it ends; the numbers from 64 on follow `sysexits.h`.
enum ExitCode: Int32, Sendable {
    /// Done.
    case done = 0
    /// The sign-in, or what else was asked for, did not succeed; the reason is named.
    case failed = 1
    /// The command line cannot be understood.
    case usage = 2
    /// A value or file that was given is not acceptable.
    case badInput = 65
    /// Nobody answers, or not yet.
    case unavailable = 69
    /// A mistake of this program.
    case internalError = 70
    /// The set-up is at fault: a directory, a certificate file, a database of a newer version.
    case configuration = 78
}
