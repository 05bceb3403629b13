import Encoding
import Synchronization

/// What the exchanges themselves show beyond a flow's steps; asked for one call step after the other.
final class CallEvidence: Sendable {
    /// What one call's exchange shows.
    struct Finding: Equatable {
        /// Further proofs, in words.
        var proved: [String] = []
        /// What the answer gave.
        var got: [String] = []
    }

    private let look: @Sendable (JSON) -> Finding?

    /// Evidence that a function finds.
    init(_ look: @escaping @Sendable (JSON) -> Finding?) { self.look = look }

    /// What is known of a call step.
    func consume(_ step: JSON) -> Finding? { look(step) }
}
