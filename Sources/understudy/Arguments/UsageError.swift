/// A command line that cannot be understood: what is wrong with it, and how it is meant.
struct UsageError: Error, Equatable {
    /// One line that names the thing.
    let message: String
    /// The usage line of the command, or of the program.
    let usage: String

    /// The words as the person sees them, two lines.
    var lines: [String] { ["understudy: \(message)", usage] }
}
