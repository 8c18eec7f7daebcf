/** Where an app stands on its way to people, as the interface tells. */

