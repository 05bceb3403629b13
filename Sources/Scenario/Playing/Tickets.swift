public import Encoding

/// Who gives the enrolment tickets of an identity provider somewhere else.
public enum Tickets: Sendable {
    /// These, each once, in the order of the enrolments.
    case given([String])
    /// Somebody who is asked at each enrolment.
    case asked(@Sendable (TicketRequest) async throws(NoTicket) -> Ticket)
}

/// What somebody must know to give a ticket.
public struct TicketRequest: Sendable, Hashable {
    /// The issuer the enrolment is at.
    public let issuer: String
    /// The scenario, as `group/name`.
    public let scenario: String
    /// The user's name in the scenario.
    public let user: String
    /// The user's address: the scenario's, or that of the last ticket for this user of this scenario.
    public let email: String

    /// The request as a command reads it.
    public var json: JSON {
        ["issuer": .string(issuer), "scenario": .string(scenario), "user": .string(user), "email": .string(email)]
    }
}

/// An enrolment ticket that was given.
public struct Ticket: Sendable, Hashable {
    /// The ticket, as the issuer takes it.
    public let text: String
    /// The address of whom it is for, where that is not the one that was asked for.
    public let email: String?

    /// Reads what a command printed: the ticket alone, or an object with `ticket` and `email`.
    ///
    /// Throws `NoTicket` where it is neither.
    public init(printed: [UInt8]) throws(NoTicket) {
        let printed = String(decoding: printed, as: UTF8.self)
        let words = printed.split(whereSeparator: \.isWhitespace)
        guard printed.drop(while: \.isWhitespace).first == "{" else {
            guard words.count == 1 else {
                throw NoTicket("a ticket is one word, or an object with 'ticket'; printed were \(words.count) words")
            }
            self.init(text: String(words[0]), email: nil)
            return
        }
        let document: JSON
        do throws(JSONError) { document = try JSON(parsing: Array(printed.utf8)) } catch {
            throw NoTicket("what was printed is no JSON: \(error)")
        }
        guard let text = document["ticket"]?.string, !text.isEmpty else {
            throw NoTicket("the object that was printed has no text 'ticket'")
        }
        self.init(text: text, email: document["email"]?.string)
    }

    private init(text: String, email: String?) {
        self.text = text
        self.email = email
    }
}

/// Why no ticket was given.
public struct NoTicket: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence, without a ticket in it.
    public let description: String

    /// Says why.
    public init(_ description: String) { self.description = description }
}
