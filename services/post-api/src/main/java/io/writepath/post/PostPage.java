package io.writepath.post;

import java.util.List;

/**
 * The newest posts that hold a keyword.
 *
 * @param total how many posts hold it in all, counted exactly
 * @param posts newest first, at most the asked-for size
 */
public record PostPage(long total, List<Post> posts) {}
