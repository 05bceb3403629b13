/// What the program tells its caller when it ends; the numbers from 64 on follow `sysexits.h`.
struct ExitCode: RawRepresentable, Sendable, Hashable {
    /// The number.
    let rawValue: Int32

    /// Done.
    static let done = ExitCode(rawValue: 0)
    /// The sign-in, or what else was asked for, did not succeed; the reason is named.
    static let failed = ExitCode(rawValue: 1)
    /// The command line cannot be understood.
    static let usage = ExitCode(rawValue: 2)
    /// A value or file that was given is not acceptable.
    static let badInput = ExitCode(rawValue: 65)
    /// Nobody answers, or not yet.
    static let unavailable = ExitCode(rawValue: 69)
    /// A mistake of this program.
    static let internalError = ExitCode(rawValue: 70)
    /// A file that was asked for cannot be written.
    static let cannotCreate = ExitCode(rawValue: 73)
    /// The set-up is at fault: a directory, a certificate file, a database of a newer version.
    static let configuration = ExitCode(rawValue: 78)
    /// The time that was given is over.
    static let timedOut = ExitCode(rawValue: 124)
    /// The command to run is there and cannot be run.
    static let notExecutable = ExitCode(rawValue: 126)
    /// The command to run is not there.
    static let notFound = ExitCode(rawValue: 127)

    /// What a child that a signal ended comes to, as a shell tells it.
    static func signal(_ number: Int32) -> ExitCode { ExitCode(rawValue: 128 + number) }
}
